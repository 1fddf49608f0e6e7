// What stands in the way of a command, whichever it is.

import { type Problem, problem } from '../problem.js'
import type { Entity, Noun } from './noun.js'

export function removedProblem({ word }: Noun, { id, name, status }: Entity): Problem | undefined {
  if (status !== 'REMOVED') return undefined
  return problem('conflict', `The ${word} ${name} (${id}) was removed. Its history stays; make a new one to go on.`)
}

/** What a deploy says a deploy changes: another change would be undone by the next one. */
export function ownedProblem({ word }: Noun, { name, location_name }: Entity, cure: string): Problem | undefined {
  if (location_name === null) return undefined
  return problem('conflict', `The ${word} ${name} is defined by the code location ${location_name}. ${cure}`, {
    members: { location_name },
  })
}
