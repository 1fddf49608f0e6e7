// The documents that say what the tables are: pointer, revision, checkpoint, chain page (DATA section 6).
// Only the pointer is ever replaced; the others are written once under a name of their own.

import { z } from 'zod'
import { CHAIN_PREFIX } from '../core/keys.js'
import { instantMs, instantText } from '../core/time.js'
import { isTableName, type TableName } from '../projections/tables.js'
import { encodeDocument, parseDocument } from '../storage/document.js'
import type { FileReference } from './table-files.js'

export const POINTER_NAME = 'manifests/orchestration.manifest.json'
/** Every document but the pointer. */
export const MANIFESTS_PREFIX = 'manifests/orchestration/'
export const REVISIONS_PREFIX = 'manifests/orchestration/revisions/'
const CHECKPOINTS_PREFIX = 'manifests/orchestration/checkpoints/'
const L0_PREFIX = 'state/orchestration/l0/'
const BASE_PREFIX = 'state/orchestration/base/'
export const STATE_PREFIX = 'state/orchestration/'

export const revisionName = (sequence: number, revision: string): string => `${REVISIONS_PREFIX}${sequence}-${revision}.json`
const REVISION_NAME = /^(\d+)-([0-9A-Z]{26})\.json$/
/** undefined: it is the name of something else. */
export function revisionLinkOf(name: string): { readonly sequence: number; readonly revision: string } | undefined {
  const [, digits, revision] = REVISION_NAME.exec(name.slice(REVISIONS_PREFIX.length)) ?? []
  return digits === undefined || revision === undefined ? undefined : { sequence: Number(digits), revision }
}
export const checkpointName = (name: string): string => `${CHECKPOINTS_PREFIX}${name}.json`
export const chainName = (page: number): string => `${CHAIN_PREFIX}${page}.json`
export const l0Name = (revision: string, table: TableName, extension: string): string => `${L0_PREFIX}${revision}/${table}.${extension}`
/** The revision that added this file of L0; undefined: it is another file. */
export const l0RevisionOf = (name: string): string | undefined =>
  name.startsWith(L0_PREFIX) ? name.slice(L0_PREFIX.length).split('/', 1)[0] : undefined
export const partName = (table: TableName, part: string, extension: string): string => `${BASE_PREFIX}${table}/${part}.${extension}`

const instant = z.iso.datetime()
const key = z.array(z.union([z.string(), z.number()]))
const tableName = z.string().refine(isTableName, 'is no table that this version knows; install the version that wrote it')

const fileReference = z.object({
  name: z.string(),
  rows: z.int(),
  bytes: z.int(),
  crc32c: z.string(),
  min_key: key,
  max_key: key,
})

const part = z.object({
  ...fileReference.shape,
  level: z.int(),
  times: z.record(z.string(), z.tuple([instant, instant])),
  filter: z.string().nullable(),
  /** Where the table is kept by periods: the hour or day that all rows of the part were folded in. */
  period: instant.optional(),
  /** Of a part of level 0 of such a table: the periods that are mixed in it. */
  periods: z.array(instant).optional(),
})

const pointer = z.object({
  schema: z.literal('servo-pointer-v1'),
  revision: z.string(),
  sequence: z.int(),
  fold_version: z.int(),
  published_at: instant,
  checkpoint: z.object({ name: z.string(), sequence: z.int() }),
  deltas: z.array(z.object({ sequence: z.int(), revision: z.string() })),
  chain_through: z.int(),
})

const foldedSegment = z.object({
  name: z.string(),
  creation_time: z.string(),
  generation: z.string(),
  crc32c: z.string(),
  count: z.int(),
})

const retention = z.object({
  idempotency_hours: z.number(),
  refusals_days: z.number(),
  outbox_days: z.number(),
  cold_after_days: z.number(),
  skipped_ticks_days: z.number(),
  no_data_days: z.number(),
})

const outcomeCounts = z.object({ applied: z.int(), duplicate: z.int(), refused: z.int(), quarantined: z.int() })

const watermarks = z.object({
  last_processed_at: instant,
  closed_through: instant,
  events_processed_through: instant,
  max_event_id_seen: z.string().nullable(),
  wake_at: instant.nullable(),
  hold_until: instant.nullable(),
})

const revision = z.object({
  schema: z.literal('servo-revision-v1'),
  revision: z.string(),
  sequence: z.int(),
  previous: z.string().nullable(),
  checkpoint: z.string(),
  fold_version: z.int(),
  fold_time: instant,
  turn_id: z.string(),
  published_at: instant,
  segments: z.array(foldedSegment),
  files_added: z.array(
    z.object({
      table: tableName,
      ...fileReference.shape,
      /** Of a table that is kept by periods: the hours or days that the rows belong to. A merge takes them apart. */
      periods: z.array(instant).optional(),
    }),
  ),
  files_removed: z.array(z.string()),
  retention,
  /** How much later than its minute a segment may have been created: decides what is LATE, so replay needs it. */
  listing_window_ms: z.int(),
  watermarks,
  counts: outcomeCounts,
  applied_total: z.int(),
  set_sum: z.string(),
})

const checkpoint = z.object({
  schema: z.literal('servo-checkpoint-v1'),
  name: z.string(),
  sequence: z.int(),
  revision: z.string(),
  fold_version: z.int(),
  tables: z.record(z.string(), z.object({ parts: z.array(part), cold: z.array(z.unknown()) })),
  /** Segments folded so far whose minute was still open: who starts from this checkpoint must not fold them again. */
  open_segments: z.array(z.string()),
  /** The revision that these tables go on from: of the first turn of a fold version, or of a rebuild. What is older may have been
   *  folded otherwise. Absent where an older version wrote it. */
  folded_since: z.int().optional(),
})

const chainPage = z.object({
  schema: z.literal('servo-chain-v1'),
  n: z.int(),
  first_sequence: z.int(),
  last_sequence: z.int(),
  revisions: z.array(
    z.object({ sequence: z.int(), revision: z.string(), published_at: instant, checkpoint: z.string(), segments: z.int() }),
  ),
})

export type Pointer = z.infer<typeof pointer>
export type Revision = z.infer<typeof revision>
export type FoldedSegment = z.infer<typeof foldedSegment>
export type OutcomeCounts = z.infer<typeof outcomeCounts>
export type Watermarks = z.infer<typeof watermarks>
export type ChainPage = z.infer<typeof chainPage>
type CheckpointDocument = z.infer<typeof checkpoint>

/** A file of the base. Period and times are epoch milliseconds, as in rows. */
export type Part = FileReference & {
  /** Parts of one level never overlap (in one period); 0: an L0 file that a turn's own checkpoint names. */
  readonly level: number
  readonly times: Readonly<Record<string, readonly [number, number]>>
  readonly filter: string | null
  readonly period: number | null
  readonly periods?: readonly number[]
}

/** A file of L0 as a part of the base: of level 0, until a merge takes it in. */
export function freshPart({ table: _table, periods, ...reference }: Revision['files_added'][number], times: Part['times']): Part {
  const mixed = periods === undefined ? {} : { periods: periods.map(instantMs) }
  return { ...reference, level: 0, times, filter: null, period: null, ...mixed }
}

export type Checkpoint = Omit<CheckpointDocument, 'tables'> & { readonly tables: ReadonlyMap<TableName, readonly Part[]> }

export const encodePointer = (document: Pointer): Uint8Array => encodeDocument(document)
export const parsePointer = (bytes: Uint8Array): Pointer => parseDocument(pointer, POINTER_NAME, bytes)
export const encodeRevision = (document: Revision): Uint8Array => encodeDocument(document)
export const parseRevision = (name: string, bytes: Uint8Array): Revision => parseDocument(revision, name, bytes)
export const encodeChainPage = (document: ChainPage): Uint8Array => encodeDocument(document)
export const parseChainPage = (name: string, bytes: Uint8Array): ChainPage => parseDocument(chainPage, name, bytes)

export function encodeCheckpoint(document: Checkpoint): Uint8Array {
  const tables = [...document.tables].map(([table, parts]) => [table, { parts: parts.map(writePart), cold: [] }])
  return encodeDocument({ ...document, tables: Object.fromEntries(tables) })
}

export function parseCheckpoint(name: string, bytes: Uint8Array): Checkpoint {
  const document = parseDocument(checkpoint, name, bytes)
  const tables = new Map<TableName, readonly Part[]>()
  for (const [table, { parts }] of Object.entries(document.tables)) if (isTableName(table)) tables.set(table, parts.map(readPart))
  return { ...document, tables }
}

function writePart({ times, period, periods, ...rest }: Part): z.infer<typeof part> {
  const texts = Object.entries(times).map(([name, [from, to]]) => [name, [instantText(from), instantText(to)]])
  const written = { ...rest, min_key: [...rest.min_key], max_key: [...rest.max_key], times: Object.fromEntries(texts) }
  return {
    ...written,
    ...(period === null ? {} : { period: instantText(period) }),
    ...(periods === undefined ? {} : { periods: periods.map(instantText) }),
  }
}

function readPart({ times, period, periods, ...rest }: z.infer<typeof part>): Part {
  const instants = Object.entries(times).map(([name, [from, to]]) => [name, [instantMs(from), instantMs(to)] as const])
  return {
    ...rest,
    times: Object.fromEntries(instants),
    period: period === undefined ? null : instantMs(period),
    ...(periods === undefined ? {} : { periods: periods.map(instantMs) }),
  }
}
