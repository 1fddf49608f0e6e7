// Makes, changes, renames and removes what no code location defines.

import { isUlid } from '../../core/ids.js'
import type { Draft } from '../../events/draft.js'
import { definitionIn } from '../../events/fields.js'
import { readAssetGraph } from '../../readers/assets.js'
import type { View } from '../../readers/reader.js'
import type { By } from '../by.js'
import { isProblem, type Problem, problem } from '../problem.js'
import { ownedProblem } from './blocked.js'
import { definedDraft, removedDraft } from './drafts.js'
import { type Definition, type Entity, isAsDefined, type Noun } from './noun.js'

export type Planned = {
  readonly id: string
  readonly name: string
  /** Empty: nothing changes. */
  readonly drafts: readonly Draft[]
  readonly warnings: readonly string[]
}

type Requested = { readonly request_id: string; readonly now: number }

/** The request that makes one gives it its id. */
export async function planCreate(
  noun: Noun,
  view: View | undefined,
  asked: By & { readonly name: string; readonly definition: Definition },
  { request_id, now }: Requested,
): Promise<Planned | Problem> {
  const { name } = asked
  const definition = definitionIn(noun.fields, asked.definition)
  const fault = await definitionProblem(noun, view, { name, definition }, now)
  if (fault !== undefined) return fault
  const drafts = [definedDraft(noun, { id: request_id, name, definition, expected: 0, asked }, request_id)]
  return { id: request_id, name, drafts, warnings: noun.warnings(definition) }
}

export type Change = By & {
  readonly name?: string | undefined
  readonly expected_definition_version?: number | undefined
  /** What becomes of the definition that is there. */
  readonly change: (before: Definition) => Definition
}

export async function planChange(
  noun: Noun,
  view: View | undefined,
  entity: Entity,
  asked: Change,
  { request_id, now }: Requested,
): Promise<Planned | Problem> {
  const blocked =
    ownedProblem(noun, entity, `Change it there and deploy. ${noun.sentences.owned}`) ??
    staleDefinition(noun, entity, asked.expected_definition_version)
  if (blocked !== undefined) return blocked
  const { id, definition_version: expected } = entity
  const name = asked.name ?? entity.name
  const definition = definitionIn(noun.fields, asked.change(entity.definition))
  const fault = await definitionProblem(noun, view, { id, name, definition }, now)
  if (fault !== undefined) return fault
  // What is left out of a change stays as it was read, so the change rests on it whether or not its sender said a version.
  const drafts = isAsDefined(entity, name, definition) ? [] : [definedDraft(noun, { id, name, definition, expected, asked }, request_id)]
  return { id, name, drafts, warnings: noun.warnings(definition) }
}

function staleDefinition({ word }: Noun, { name, definition_version }: Entity, expected: number | undefined): Problem | undefined {
  if (expected === undefined || expected === definition_version) return undefined
  return problem(
    'conflict',
    `The ${word} ${name} is at definition version ${definition_version}, and this change was made for version ${expected}. Read it again, and make the change on what is there now.`,
    { members: { definition_version } },
  )
}

type Named = { readonly id?: string; readonly name: string; readonly definition: Definition }

async function definitionProblem(noun: Noun, view: View | undefined, named: Named, now: number): Promise<Problem | undefined> {
  if (view === undefined) return problem('bad-input', 'No asset is defined yet. Deploy a code location first.')
  const { id, name, definition } = named
  const wrong_name = nameProblem(noun, name)
  const nameFaults = wrong_name === undefined ? [] : [{ path: noun.name_member, message: wrong_name }]
  const faults = [...nameFaults, ...noun.faults(await readAssetGraph(view), definition, now)]
  if (faults.length > 0) return problem('bad-input', faults.map(({ message }) => message).join(' '), { faults })
  const holder = await noun.find(view, name)
  if (isProblem(holder) || holder.id === id) return undefined
  const message = `The name ${name} belongs to the ${noun.word} ${holder.id}. Choose another, or change that one.`
  return problem('conflict', message, { members: { [noun.id_member]: holder.id } })
}

export const nameProblem = ({ word }: Noun, name: string): string | undefined =>
  isUlid(name) ? `${name} would be taken for the id of a ${word}. Give it a name that says what it does.` : undefined

export function planRemove(noun: Noun, entity: Entity, asked: By, request_id: string): Planned | Problem {
  const cure = 'Take it out there and deploy: another deploy would bring it back. Until then it can be paused.'
  const owned = ownedProblem(noun, entity, cure)
  if (owned !== undefined) return owned
  const { id, name } = entity
  return { id, name, drafts: [removedDraft(noun, id, asked, request_id)], warnings: [] }
}
