// The definitions of one noun in a deploy: which are new, changed, renamed and gone, and all that is wrong with them. Those that were
// made by the API, or belong to other locations, are never touched.

import { deployedId } from '../../core/keys.js'
import { compareText } from '../../core/order.js'
import type { Draft } from '../../events/draft.js'
import { definitionIn } from '../../events/fields.js'
import type { AssetGraph } from '../../readers/assets.js'
import type { By } from '../by.js'
import { type MemberChange, memberChanges } from '../member-changes.js'
import type { Fault } from '../problem.js'
import { nameProblem } from './define.js'
import { definedDraft, removedDraft } from './drafts.js'
import { type Definition, type Entity, isAsDefined, type Noun } from './noun.js'

/** As a deploy has it: the members of the definition, its name, and the name that it had. */
export type DeployedMembers = Readonly<Record<string, unknown>>

/** What a deploy defines of one noun, and what there is of it. */
export type DeployPart = { readonly noun: Noun; readonly asked: readonly DeployedMembers[]; readonly current: readonly Entity[] }

type Deployed = { readonly name: string; readonly renamed_from: string | undefined; readonly definition: Definition }

const deployedIn = (noun: Noun, members: DeployedMembers): Deployed => ({
  name: members[noun.name_member] as string,
  renamed_from: members['renamed_from'] as string | undefined,
  definition: definitionIn(noun.fields, members),
})

/** A definition of the deploy beside the one that is there; undefined: it is new. */
type Match = { readonly name: string; readonly definition: Definition; readonly before: Entity | undefined }

export type Matches = { readonly kept: readonly Match[]; readonly removed: readonly Entity[] }

/** By name; where the name is new to the location, by the one that it had. */
export function matchDefinitions({ noun, asked, current }: DeployPart, location_name: string): Matches {
  const own = new Map(current.filter((each) => isOf(each, location_name)).map((each) => [each.name, each]))
  const deployed = asked.map((members) => deployedIn(noun, members)).sort((left, right) => compareText(left.name, right.name))
  const names = new Set(deployed.map(({ name }) => name))
  const taken = new Set<Entity>()
  const kept = deployed.map(({ name, renamed_from, definition }): Match => {
    const former = renamed_from === undefined || names.has(renamed_from) ? undefined : own.get(renamed_from)
    const found = own.get(name) ?? former
    const before = found === undefined || taken.has(found) ? undefined : found
    if (before !== undefined) taken.add(before)
    return { name, definition, before }
  })
  return { kept, removed: [...own.values()].filter((each) => !taken.has(each)) }
}

const isOf = ({ location_name, status }: Entity, name: string): boolean => location_name === name && status !== 'REMOVED'

type Around = {
  readonly location_name: string
  /** The assets as they will be. */
  readonly graph: AssetGraph
  readonly now: number
}

export function deployedFaults({ noun, asked, current }: DeployPart, { location_name, graph, now }: Around): readonly Fault[] {
  const { word, plural, name_member } = noun
  const firsts = new Map<string, number>()
  const others = new Map(current.filter((each) => each.status !== 'REMOVED' && !isOf(each, location_name)).map((each) => [each.name, each]))
  const deployed = asked.map((members) => deployedIn(noun, members))
  const names = new Set(deployed.map(({ name }) => name))
  return deployed.flatMap(({ name, renamed_from, definition }, index): Fault[] => {
    const path = `${plural}[${index}]`
    const named = (message: string): Fault => ({ path: `${path}.${name_member}`, message })
    const first = firsts.get(name)
    const wrong_name = nameProblem(noun, name)
    if (first === undefined) firsts.set(name, index)
    const holder = others.get(name)
    return [
      ...(first === undefined ? [] : [named(`${path} is ${name}, as ${plural}[${first}] is. Define it once.`)]),
      ...(wrong_name === undefined ? [] : [named(wrong_name)]),
      ...(holder === undefined ? [] : [named(takenSentence(noun, holder))]),
      ...(renamed_from !== undefined && renamed_from !== name && names.has(renamed_from)
        ? [
            {
              path: `${path}.renamed_from`,
              message: `${name} is renamed from ${renamed_from}, which is deployed as well. Leave renamed_from out, or give the other one a new name.`,
            },
          ]
        : []),
      ...noun.faults(graph, definition, now).map((fault) => ({
        path: fault.path === '' ? path : `${path}.${fault.path}`,
        message: `The ${word} ${name}: ${fault.message}`,
      })),
    ]
  })
}

const takenSentence = ({ word }: Noun, { id, name, location_name }: Entity): string =>
  `The name ${name} belongs to the ${word} ${id}, ${location_name === null ? 'which was made by the API' : `of the code location ${location_name}`}. Choose another, or rename that one first.`

type About = { readonly location_name: string; readonly correlation_id: string; readonly request_id: string; readonly asked: By }

/** Removals first: their names are free for others of the same deploy. Renames give none to each other, because a name that is
 *  deployed is never the former name of another. */
export function deployedDrafts(noun: Noun, { kept, removed }: Matches, about: About): readonly Draft[] {
  const { location_name, correlation_id, request_id, asked } = about
  // As what the deploy itself causes.
  const caused = (draft: Draft): Draft => ({ ...draft, correlation_id, caused_by: 0 })
  return [
    ...removed.map(({ id }) => caused(removedDraft(noun, id, asked, request_id))),
    ...kept.filter(isChanged).map(({ before, name, definition }) => {
      const id = before?.id ?? deployedId(noun.word, request_id, name)
      const expected = before?.definition_version ?? 0
      return caused(definedDraft(noun, { id, name, location_name, definition, expected, asked }, request_id))
    }),
  ]
}

const isChanged = ({ before, name, definition }: Match): boolean => before === undefined || !isAsDefined(before, name, definition)

/** By name; a renamed one is changed, and its name among its members. */
export type DefinitionDiff<NameMember extends string = string> = {
  readonly added: readonly string[]
  readonly changed: readonly (Readonly<Record<NameMember, string>> & { readonly members: readonly MemberChange[] })[]
  readonly removed: readonly string[]
  readonly unchanged_count: number
}

export function definitionDiff({ name_member }: Noun, { kept, removed }: Matches) {
  const changed = kept.flatMap(({ name, definition, before }) => {
    if (before === undefined) return []
    const members = memberChanges({ ...before.definition, [name_member]: before.name }, { ...definition, [name_member]: name })
    return members.length === 0 ? [] : [{ [name_member]: name, members }]
  })
  const known_count = kept.filter(({ before }) => before !== undefined).length
  return {
    added: kept.filter(({ before }) => before === undefined).map(({ name }) => name),
    changed,
    removed: removed.map(({ name }) => name),
    unchanged_count: known_count - changed.length,
  }
}

/** The definitions of the location that the deploy does not contain, as a deploy has them, by name. */
export const missingMembers = (noun: Noun, { removed }: Matches): readonly DeployedMembers[] =>
  removed
    .map(({ name, definition }): DeployedMembers => ({ [noun.name_member]: name, ...definition }))
    .toSorted((left, right) => compareText(left[noun.name_member] as string, right[noun.name_member] as string))
