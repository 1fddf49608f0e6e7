// Everything that the checks look at, read once, below every fault: the ledger as it lies there, the chain of revisions
// from the pointer back, what folding it gives, and the tables as a reader finds them.

import { canonicalJson } from '../../src/core/canonical.js'
import type { Scope } from '../../src/core/ids.js'
import { LEDGER_PREFIX, segmentName } from '../../src/ledger/segment.js'
import { type LooseRow, TABLE_NAMES, type TableName } from '../../src/projections/tables.js'
import { createReader } from '../../src/readers/reader.js'
import type { ObjectHead, ObjectStore } from '../../src/storage/object-store.js'
import type { Pointer, Revision } from '../../src/tables/revision.js'
import type { TableFiles } from '../../src/tables/table-files.js'
import { type FullFold, foldHistory } from '../fixtures/full-fold.js'
import type { Oracle } from '../fixtures/oracle.js'
import { packedSegments, singleName } from '../fixtures/packs.js'
import { bytesOf, readChain, readStoredPointer } from '../fixtures/reachable.js'

/** An event as it lies in the ledger, whatever it is. */
export type StoredEvent = {
  readonly event_id?: string
  readonly event_type?: string
  readonly idempotency_key?: string
  readonly causation_id?: string
  readonly basis?: unknown
  readonly payload?: Readonly<Record<string, unknown>>
}

export type StoredSegment = {
  readonly name: string
  readonly head: ObjectHead
  /** undefined: no segment that anybody could read. */
  readonly batches: readonly (readonly StoredEvent[])[] | undefined
}

export type Evidence = {
  readonly store: ObjectStore
  readonly files: TableFiles
  readonly scope: Scope
  readonly oracle: Oracle
  readonly now: number
  readonly ledger: ReadonlyMap<string, StoredSegment>
  readonly pointer: Pointer | undefined
  /** Oldest first. */
  readonly revisions: readonly Revision[]
  /** The sequence of the revision that folded a segment; those that were folded twice are a problem already. */
  readonly foldedAt: ReadonlyMap<string, number>
  readonly history: FullFold
  readonly live: ReadonlyMap<TableName, readonly LooseRow[]>
}

export type Surroundings = Pick<Evidence, 'store' | 'files' | 'scope' | 'oracle' | 'now'>

export async function gatherEvidence(surroundings: Surroundings): Promise<Evidence> {
  const { store, scope } = surroundings
  const ledger = await readLedger(store)
  const pointer = await readStoredPointer(store)
  const revisions = pointer === undefined ? [] : await readChain(store, pointer)
  const foldedAt = new Map(revisions.flatMap(({ segments, sequence }) => segments.map(({ name }) => [name, sequence])))
  const history = await foldHistory(store, scope, revisions)
  return { ...surroundings, ledger, pointer, revisions, foldedAt, history, live: await readTables(surroundings) }
}

export async function listAll(store: ObjectStore, prefix: string): Promise<ObjectHead[]> {
  const objects: ObjectHead[] = []
  let start_after: string | undefined
  do {
    const page = await store.list(prefix, start_after)
    objects.push(...page.objects)
    start_after = page.next
  } while (start_after !== undefined)
  return objects
}

/** A generation that no store gives: the segment lies in a pack alone. */
export const PACKED = 'packed'

async function readLedger(store: ObjectStore): Promise<Map<string, StoredSegment>> {
  const segments = new Map<string, StoredSegment>()
  for (const [name, { bytes, creation_time, crc32c, size, keys_sha256 }] of await packedSegments(store)) {
    const head = { name: singleName(name), generation: PACKED, creation_time, crc32c, size, meta: { keys_sha256 } }
    segments.set(name, { name, head, batches: batchesIn(bytes) })
  }
  for (const head of await listAll(store, LEDGER_PREFIX)) {
    const name = segmentName(head.name)
    segments.set(name, { name, head, batches: batchesIn(await bytesOf(store, head.name)) })
  }
  return segments
}

function batchesIn(bytes: Uint8Array): readonly (readonly StoredEvent[])[] | undefined {
  try {
    const { batches } = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as {
      readonly batches?: readonly { readonly events: readonly StoredEvent[] }[]
    }
    // What a hostile segment calls an event may be anything.
    return batches?.map(({ events }) => events.map((event) => (typeof event === 'object' && event !== null ? event : {})))
  } catch {
    return undefined
  }
}

export const ROWS_MAX = 1_000_000

/** The newest revision's tables, as every reader finds them. */
async function readTables({ store, files }: Surroundings): Promise<Map<TableName, readonly LooseRow[]>> {
  const tables = new Map<TableName, readonly LooseRow[]>()
  const view = await createReader({ store, files }).latest()
  if (view === undefined) return tables
  for (const table of TABLE_NAMES) tables.set(table, (await view.page(table, { limit: ROWS_MAX })).rows)
  return tables
}

/** How two sets of rows differ, as a sentence; undefined: not at all. The order of rows and columns does not count. */
export function differenceOf(expected: readonly LooseRow[], found: readonly LooseRow[]): string | undefined {
  const wanted = new Set(expected.map((row) => canonicalJson(row)))
  const unknown = found.map((row) => canonicalJson(row)).filter((text) => !wanted.delete(text))
  if (wanted.size === 0 && unknown.length === 0) return undefined
  const [missing] = wanted
  return `${wanted.size} rows are missing (${missing?.slice(0, 300) ?? 'none'}), ${unknown.length} are others (${unknown[0]?.slice(0, 300) ?? 'none'})`
}
