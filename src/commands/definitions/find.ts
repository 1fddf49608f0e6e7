// Which one a command is for, and what stands in the way of every command.

import { suggestion } from '../../core/spelling.js'
import type { View } from '../../readers/reader.js'
import { isProblem, type Problem, problem } from '../problem.js'
import type { Entity, Noun } from './noun.js'

/** One that still takes commands. */
export async function findLiving(noun: Noun, view: View | undefined, id_or_name: string): Promise<Entity | Problem> {
  const found = (await noun.find(view, id_or_name)) ?? (await notFound(noun, view, id_or_name))
  return isProblem(found) ? found : (removedProblem(noun, found) ?? found)
}

export function removedProblem({ word }: Noun, { id, name, status }: Entity): Problem | undefined {
  if (status !== 'REMOVED') return undefined
  return problem('conflict', `The ${word} ${name} (${id}) was removed. Its history stays; make a new one to go on.`)
}

export async function notFound({ word, entities }: Noun, view: View | undefined, id_or_name: string): Promise<Problem> {
  const names = (await entities(view)).filter(({ status }) => status !== 'REMOVED').map(({ name }) => name)
  const meant = suggestion(id_or_name, names) || ` \`servo ${word} list\` shows all.`
  return problem(
    'not-found',
    `There is no ${word} ${id_or_name}.${meant} If it was made just now, ask again in a moment, or the API with fresh=true.`,
  )
}

/** What a deploy says a deploy changes: another change would be undone by the next one. */
export function ownedProblem({ word }: Noun, { name, location_name }: Entity, cure: string): Problem | undefined {
  if (location_name === null) return undefined
  return problem('conflict', `The ${word} ${name} is defined by the code location ${location_name}. ${cure}`, {
    members: { location_name },
  })
}
