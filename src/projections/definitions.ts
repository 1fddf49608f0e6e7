// What the fold does alike for every noun that is defined under a name: it judges definitions and removals, and keeps who has which
// name. A noun says in one record how its rows and events are read (SCHEDULE_DEFINITION in schedule.ts).

import { assert } from '../core/errors.js'
import type { LedgerEvent } from '../events/event.js'
import type { NameRow } from './asset-table.js'
import type { DeployJudge } from './folds/event-fold.js'
import { type Moment, notBefore, type Refusal, refusal } from './outcome.js'
import type { WorkingSet } from './working-set.js'

export type NounDefinition = {
  readonly name_kind: NameRow['kind']
  /** Members of its payloads, which refusals have as well. */
  readonly id_member: string
  readonly name_member: string
  /** The types of its events that define and remove. */
  readonly defined_type: LedgerEvent['event_type']
  readonly removed_type: LedgerEvent['event_type']
  readonly find: (rows: WorkingSet, id: string) => KnownDefinition | undefined
}

/** As the rows have it, or as earlier parts of a batch will leave it. */
export type KnownDefinition = {
  readonly name: string
  /** null: it was made by the API. */
  readonly location_name: string | null
  readonly definition_version: number
  readonly is_removed: boolean
  /** Why it takes no other definition now. */
  readonly refusal?: Refusal | undefined
}

type NewDefinition = {
  readonly id: string
  readonly name: string
  readonly location_name: string | undefined
  /** 0: it is new; undefined: whatever it is. */
  readonly expected_version: number | undefined
}

type Source = {
  readonly find: (id: string) => KnownDefinition | undefined
  /** The id that has the name; undefined: it is free. */
  readonly holderOf: (name: string) => string | undefined
}

const sourceOf = (noun: NounDefinition, rows: WorkingSet): Source => ({
  find: (id) => noun.find(rows, id),
  holderOf(name) {
    const row = rows.get('names', noun.name_kind, name)
    return row === undefined || row.released_at !== null ? undefined : row.entity_id
  },
})

/** The events of all nouns have these members, those of the noun under its own names. */
function definitionIn({ id_member, name_member }: NounDefinition, { payload, basis }: LedgerEvent): NewDefinition {
  const members = payload as Readonly<Record<string, unknown>>
  return {
    id: members[id_member] as string,
    name: members[name_member] as string,
    location_name: members['location_name'] as string | undefined,
    expected_version: (basis as { readonly expected_definition_version?: number } | undefined)?.expected_definition_version,
  }
}

/** Of one event that defines, by the rows as they are. */
export const judgeDefinition = (noun: NounDefinition, rows: WorkingSet, event: LedgerEvent): Refusal | undefined =>
  judge(noun, sourceOf(noun, rows), definitionIn(noun, event))

function judge({ id_member, name_member }: NounDefinition, source: Source, definition: NewDefinition): Refusal | undefined {
  const { id, name, location_name = null, expected_version } = definition
  const about = { [id_member]: id }
  const known = source.find(id)
  if (known?.is_removed) return refusal('TERMINAL', { ...about, status: 'REMOVED' })
  const owner = known?.location_name ?? null
  if (known !== undefined && owner !== location_name) return refusal('OWNED_ELSEWHERE', { ...about, location_name: owner })
  const definition_version = known?.definition_version ?? 0
  if (expected_version !== undefined && expected_version !== definition_version) {
    return refusal('STALE_BASIS', { ...about, definition_version })
  }
  if (known?.refusal !== undefined) return known.refusal
  const holder = source.holderOf(name)
  return holder === undefined || holder === id ? undefined : refusal('NAME_TAKEN', { [name_member]: name, [id_member]: holder })
}

/** Of a deploy, before any part of it is folded: each part by what the parts before it will have made of names and definitions. */
export const definitionJudge =
  (noun: NounDefinition): DeployJudge =>
  (rows) => {
    const before = sourceOf(noun, rows)
    const definitions = new Map<string, KnownDefinition>()
    /** undefined: released by an earlier part. */
    const holders = new Map<string, string | undefined>()
    const source: Source = {
      find: (id) => definitions.get(id) ?? before.find(id),
      holderOf: (name) => (holders.has(name) ? holders.get(name) : before.holderOf(name)),
    }

    function define(definition: NewDefinition): Refusal | undefined {
      const refused = judge(noun, source, definition)
      if (refused !== undefined) return refused
      const { id, name, location_name = null } = definition
      const known = source.find(id)
      if (known !== undefined && known.name !== name) holders.set(known.name, undefined)
      holders.set(name, id)
      const definition_version = (known?.definition_version ?? 0) + 1
      definitions.set(id, { is_removed: false, ...known, name, location_name, definition_version })
      return undefined
    }

    function remove(id: string): Refusal | undefined {
      const known = source.find(id)
      const about = { [noun.id_member]: id }
      if (known === undefined) return refusal('UNKNOWN_ENTITY', about)
      if (known.is_removed) return refusal('TERMINAL', { ...about, status: 'REMOVED' })
      holders.set(known.name, undefined)
      definitions.set(id, { ...known, is_removed: true })
      return undefined
    }

    return {
      judge(event) {
        if (event.event_type === noun.defined_type) return define(definitionIn(noun, event))
        return event.event_type === noun.removed_type ? remove(definitionIn(noun, event).id) : undefined
      },
    }
  }

type NamedEntity = { readonly kind: NameRow['kind']; readonly name: string; readonly entity_id: string }

export function takeName(rows: WorkingSet, entity: NamedEntity, { at, event_id }: Moment): void {
  const row = rows.get('names', entity.kind, entity.name)
  if (row !== undefined && row.released_at === null) return
  rows.put('names', { ...entity, taken_at: at, released_at: null, row_version: 0, last_event_id: event_id })
}

export function releaseName(rows: WorkingSet, { kind, name, entity_id }: NamedEntity, moment: Moment): void {
  const row = rows.get('names', kind, name)
  assert(row?.entity_id === entity_id, `The name ${name} is not that of ${entity_id}.`)
  rows.put('names', { ...row, released_at: notBefore(moment, row.taken_at), last_event_id: moment.event_id })
}

/** Who changed a status, and why. */
export const statusChangedBy = ({ requested_by, reason }: { readonly requested_by?: string; readonly reason?: string }) => ({
  status_changed_by: requested_by ?? null,
  status_reason: reason ?? null,
})
