// Reads what is defined under a name: a row that says what it is, and a row that says how it stands. The same for every noun, whose
// tables and members are named in one line.

import { isUlid } from '../core/ids.js'
import { compareText } from '../core/order.js'
import type { NameRow } from '../projections/asset-table.js'
import type { Rows, TableName } from '../projections/tables.js'
import { type Found, missing, type NotFound } from './not-found.js'
import { readAll } from './pages.js'
import type { View } from './reader.js'

export type Defined<D extends TableName, S extends TableName> = { readonly definition: Rows[D]; readonly state: Rows[S] }

type Tables<D, S> = {
  /** In sentences and commands. */
  readonly word: string
  readonly kind: NameRow['kind']
  readonly definitions: D
  readonly states: S
  readonly id_member: string
  readonly name_member: string
}

export function defineReads<D extends TableName, S extends TableName>(tables: Tables<D, S>) {
  const { word, kind, definitions, states, id_member, name_member } = tables
  const text = (row: object, member: string): string => (row as Readonly<Record<string, string>>)[member] as string
  const byName = (left: object, right: object): number =>
    compareText(text(left, name_member), text(right, name_member)) || compareText(text(left, id_member), text(right, id_member))

  async function byId(view: View, id: string): Promise<Defined<D, S> | undefined> {
    const [definition, state] = await Promise.all([view.row(definitions, [id]), view.row(states, [id])])
    return definition === undefined || state === undefined ? undefined : { definition, state }
  }

  /** By id first: one that was removed is found by its id alone, because its name may be another's. */
  async function lookUp(view: View | undefined, id_or_name: string): Promise<Defined<D, S> | undefined> {
    if (view === undefined) return undefined
    const found = isUlid(id_or_name) ? await byId(view, id_or_name) : undefined
    if (found !== undefined) return found
    const name = await view.row('names', [kind, id_or_name])
    return name === undefined || name.released_at !== null ? undefined : byId(view, name.entity_id)
  }

  return {
    lookUp,

    /** One that was removed too. */
    async find(view: View | undefined, id_or_name: string): Promise<Found<Defined<D, S>> | NotFound> {
      const found = await lookUp(view, id_or_name)
      if (view !== undefined && found !== undefined) return { ...found, view }
      // Names of removed ones are released, and may be another's.
      const names = view === undefined ? [] : (await readAll(view, 'names')).filter((row) => row.kind === kind && row.released_at === null)
      return missing(
        word,
        id_or_name,
        names.map(({ name }) => name),
      )
    },

    /** Those of removed ones too. */
    async namesOf(view: View, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const rows = await view.rows(
        definitions,
        [...new Set(ids)].map((id) => [id]),
      )
      return new Map(rows.map((row) => [text(row, id_member), text(row, name_member)]))
    },

    /** All of them, removed ones too, in the order of their names. */
    async readAll(view: View | undefined): Promise<readonly Defined<D, S>[]> {
      if (view === undefined) return []
      // States change alone, with every trigger: definitions are read again when one of them has changed.
      const [sorted, byIds] = await Promise.all([
        view.derived(definitions, [definitions], async () => (await readAll(view, definitions)).sort(byName)),
        view.derived(states, [states], async () => new Map((await readAll(view, states)).map((row) => [text(row, id_member), row]))),
      ])
      return sorted.flatMap((definition) => {
        const state = byIds.get(text(definition, id_member))
        return state === undefined ? [] : [{ definition, state }]
      })
    },
  }
}
