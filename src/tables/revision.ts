// The documents that say what the tables are: pointer, revision, checkpoint, chain page (DATA section 6).
// Only the pointer is ever replaced; the others are written once under a name of their own.

import { z } from 'zod'
import { CHAIN_PREFIX } from '../core/keys.js'
import { instantMs, instantText } from '../core/time.js'
import type { RetentionPolicy } from '../projections/retention.js'
import { isTableName, type TableName } from '../projections/tables.js'
import { encodeDocument, parseDocument } from '../storage/document.js'
import type { FileReference } from './table-files.js'

export const POINTER_NAME = 'manifests/orchestration.manifest.json'
/** Every document but the pointer. */
export const MANIFESTS_PREFIX = 'manifests/orchestration/'
export const REVISIONS_PREFIX = 'manifests/orchestration/revisions/'
export const CHECKPOINTS_PREFIX = 'manifests/orchestration/checkpoints/'
const L0_PREFIX = 'state/orchestration/l0/'
const BASE_PREFIX = 'state/orchestration/base/'
export const COLD_PREFIX = 'manifests/orchestration/cold/'
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

export const partDocument = z.object({
  ...fileReference.shape,
  level: z.int(),
  times: z.record(z.string(), z.tuple([instant, instant])),
  filter: z.string().nullable(),
  /** Where the table is kept by periods: the hour or day that all rows of the part were folded in. */
  period: instant.optional(),
  /** Of a part of level 0 of such a table: the periods that are mixed in it. */
  periods: z.array(instant).optional(),
  /** One filter over all parts of a finished UTC day, this one among them: asked before their own. */
  day_filter: z.string().optional(),
})

/** A sub-list of cold parts: those of one table and month, named by their content. */
const coldList = z.object({
  name: z.string(),
  day_min: z.iso.date(),
  day_max: z.iso.date(),
  parts: z.int(),
  rows: z.int(),
  bytes: z.int(),
  /** Of all its parts: whoever looks for other instants does not open it. */
  times: z.record(z.string(), z.tuple([instant, instant])),
  /** Over all its parts, once its month is over: whoever looks for a key that none of them has does not open it. */
  filters: z.array(z.string()),
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
  // Of every revision that does not say it: a day and 30 days, before there were settings.
  as_of_minutes_hours: z.number().default(24),
  as_of_hours_days: z.number().default(30),
  gone_before: z.record(z.string(), instant).optional(),
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
  /** What holds at the end of this revision. */
  retention,
  /** What its writer takes where nobody set anything; absent where nobody did. Replay begins with it. */
  retention_defaults: retention.optional(),
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
  tables: z.record(z.string(), z.object({ parts: z.array(partDocument), cold: z.array(coldList) })),
  /** Rows have gone cold up to this instant; what comes later of before it is late. Absent: none ever did. */
  cold_through: instant.optional(),
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
type RevisionDocument = z.infer<typeof revision>
/** Instants of what is gone are epoch milliseconds, as in rows. */
export type Revision = Omit<RevisionDocument, 'retention' | 'retention_defaults'> & {
  readonly retention: RetentionPolicy
  readonly retention_defaults?: RetentionPolicy
}
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
  readonly day_filter?: string
}

/** A sub-list as the checkpoint names it, with times as epoch milliseconds. */
export type ColdList = Omit<z.infer<typeof coldList>, 'times'> & { readonly times: Part['times'] }

/** A file of L0 as a part of the base: of level 0, until a merge takes it in. */
export function freshPart({ table: _table, periods, ...reference }: Revision['files_added'][number], times: Part['times']): Part {
  const mixed = periods === undefined ? {} : { periods: periods.map(instantMs) }
  return { ...reference, level: 0, times, filter: null, period: null, ...mixed }
}

export type Checkpoint = Omit<CheckpointDocument, 'tables' | 'cold_through'> & {
  readonly tables: ReadonlyMap<TableName, readonly Part[]>
  /** Oldest first. */
  readonly cold: ReadonlyMap<TableName, readonly ColdList[]>
  readonly cold_through: number | null
}

export const encodePointer = (document: Pointer): Uint8Array => encodeDocument(document)
export const parsePointer = (bytes: Uint8Array): Pointer => parseDocument(pointer, POINTER_NAME, bytes)
export function encodeRevision({ retention, retention_defaults, ...rest }: Revision): Uint8Array {
  const defaults = retention_defaults === undefined ? {} : { retention_defaults: writeRetention(retention_defaults) }
  return encodeDocument({ ...rest, retention: writeRetention(retention), ...defaults })
}
export function parseRevision(name: string, bytes: Uint8Array): Revision {
  const { retention, retention_defaults, ...rest } = parseDocument(revision, name, bytes)
  const defaults = retention_defaults === undefined ? {} : { retention_defaults: readRetention(retention_defaults) }
  return { ...rest, retention: readRetention(retention), ...defaults }
}
export const encodeChainPage = (document: ChainPage): Uint8Array => encodeDocument(document)
export const parseChainPage = (name: string, bytes: Uint8Array): ChainPage => parseDocument(chainPage, name, bytes)

export function encodeCheckpoint(document: Checkpoint): Uint8Array {
  const { tables, cold, cold_through, ...rest } = document
  const names = new Set([...tables.keys(), ...cold.keys()])
  const written = [...names].map((table) => [
    table,
    {
      parts: (tables.get(table) ?? []).map(writePart),
      cold: (cold.get(table) ?? []).map((list) => ({ ...list, times: writeTimes(list.times) })),
    },
  ])
  const through = cold_through === null ? {} : { cold_through: instantText(cold_through) }
  return encodeDocument({ ...rest, ...through, tables: Object.fromEntries(written) })
}

export function parseCheckpoint(name: string, bytes: Uint8Array): Checkpoint {
  const document = parseDocument(checkpoint, name, bytes)
  const tables = new Map<TableName, readonly Part[]>()
  const cold = new Map<TableName, readonly ColdList[]>()
  for (const [table, { parts, cold: lists }] of Object.entries(document.tables)) {
    if (!isTableName(table)) continue
    tables.set(table, parts.map(readPart))
    if (lists.length > 0)
      cold.set(
        table,
        lists.map((list) => ({ ...list, times: readTimes(list.times) })),
      )
  }
  return { ...document, tables, cold, cold_through: document.cold_through === undefined ? null : instantMs(document.cold_through) }
}

function writeRetention({ gone_before, ...settings }: RetentionPolicy): z.infer<typeof retention> {
  if (gone_before === undefined) return settings
  const texts = Object.entries(gone_before).map(([setting, at]) => [setting, instantText(at)])
  return { ...settings, gone_before: Object.fromEntries(texts) }
}

function readRetention({ gone_before, ...settings }: z.infer<typeof retention>): RetentionPolicy {
  if (gone_before === undefined) return settings
  const instants = Object.entries(gone_before).map(([setting, at]) => [setting, instantMs(at)])
  return { ...settings, gone_before: Object.fromEntries(instants) }
}

type WrittenTimes = z.infer<typeof partDocument>['times']

const writeTimes = (times: Part['times']): WrittenTimes =>
  Object.fromEntries(Object.entries(times).map(([name, [from, to]]) => [name, [instantText(from), instantText(to)]]))

const readTimes = (times: WrittenTimes): Part['times'] =>
  Object.fromEntries(Object.entries(times).map(([name, [from, to]]) => [name, [instantMs(from), instantMs(to)]]))

export function writePart({ times, period, periods, ...rest }: Part): z.infer<typeof partDocument> {
  const written = { ...rest, min_key: [...rest.min_key], max_key: [...rest.max_key], times: writeTimes(times) }
  return {
    ...written,
    ...(period === null ? {} : { period: instantText(period) }),
    ...(periods === undefined ? {} : { periods: periods.map(instantText) }),
  }
}

export function readPart({ times, period, periods, day_filter, ...rest }: z.infer<typeof partDocument>): Part {
  return {
    ...rest,
    times: readTimes(times),
    period: period === undefined ? null : instantMs(period),
    ...(periods === undefined ? {} : { periods: periods.map(instantMs) }),
    ...(day_filter === undefined ? {} : { day_filter }),
  }
}
