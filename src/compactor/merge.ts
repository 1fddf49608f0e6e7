// Merges the L0 files since the last checkpoint into the base, and publishes the new checkpoint without segments. It
// replaces only what it read: where turns publish meanwhile, their deltas stay on top; where another merge won, it gives up.

import { assert, unavailable } from '../core/errors.js'
import {
  FILE_ROWS_MAX,
  FOLD_VERSION,
  MERGE_DEADLINE_MS,
  MERGE_DUE_DELTAS,
  MERGE_DUE_ROWS,
  MERGE_FEW_KEPT_MS,
  MERGE_FEW_SHARE,
} from '../core/limits.js'
import { instantMs, instantText } from '../core/time.js'
import { newUlid } from '../core/ulid.js'
import { expiryCut } from '../projections/retention.js'
import { TABLE_NAMES, type TableName, tableNamed } from '../projections/tables.js'
import { writeOnce } from '../storage/write-once.js'
import { listOf } from '../tables/folded-names.js'
import {
  type Checkpoint,
  checkpointName,
  encodeCheckpoint,
  encodeRevision,
  type Part,
  type Pointer,
  parseCheckpoint,
  type Revision,
  revisionName,
} from '../tables/revision.js'
import { freshParts, openSegmentNames, type PublishedPointer, readDocument, readPointer, readRevision } from '../tables/snapshot.js'
import type { MergeOptions } from '../tables/table-files.js'
import { COLD_BOUNDS, type ColdBounds, type MovedRows, moveRows } from './base/cold.js'
import { coldListsAfter } from './base/cold-lists.js'
import { coldStepOf, isColdLeft } from './base/cold-step.js'
import { withDayFilters } from './base/day-filters.js'
import { writePart } from './base/write-part.js'
import { writeChainPages } from './chain.js'
import { type Intake, type MergePlan, planMerge } from './merge-plan.js'
import { notBefore, type PublishDeps, pointerTo } from './publish.js'
import { refuseNewerFold, swapPointer } from './swap.js'

export type MergeAnswer =
  | {
      readonly kind: 'merged'
      readonly sequence: number
      readonly parts_written: number
      readonly rows_written: number
      /** Of these, rows that went to cold parts. */
      readonly cold_rows: number
    }
  /** `nothing_due`: no delta to merge. `lost`: another merge published first; its work stands, this one's files are orphans. */
  | { readonly kind: 'nothing_due' | 'lost' }

const PUBLISH_TRIES_MAX = 20

type MergeRequest = {
  /** Everything into one run a table (and period), instead of what is due. */
  readonly whole?: boolean
  /** What is fresh alone: no run is written again, and no row goes cold. For a turn, which cannot wait for more. */
  readonly is_brief?: boolean
  /** A few changes are left for later, unless they are old: who looks by the clock writes nothing for an idle workspace. */
  readonly is_patient?: boolean
  /** Tables of a replay: they take their sequence from the record, and nobody walks their chain. */
  readonly is_scratch?: boolean
  /** Others than what is usual are for tests of moves in steps. */
  readonly cold_bounds?: ColdBounds | undefined
  /** Another length of chain pages than what is usual is for tests of them. */
  readonly page_revisions?: number
  /** Another than this version's own is for tests of a rollout. */
  readonly fold_version?: number
}

export async function mergeBase(deps: PublishDeps, request: MergeRequest = {}): Promise<MergeAnswer> {
  const started = deps.clock.elapsed()
  const { published, server_time } = await readPointer(deps.store)
  if (published === undefined) return { kind: 'nothing_due' }
  const { pointer } = published
  refuseNewerFold(pointer, request.fold_version)
  const before = await readDocument(deps.store, checkpointName(pointer.checkpoint.name), parseCheckpoint)
  const deltas = await Promise.all(pointer.deltas.map(({ sequence, revision }) => readRevision(deps.store, sequence, revision)))
  const newest = deltas.at(-1) ?? (await readRevision(deps.store, pointer.sequence, pointer.revision))
  const isWaiting = isLittle(deltas) && server_time - instantMs(newest.published_at) < MERGE_FEW_KEPT_MS
  if (request.is_patient === true && isWaiting && !isColdLeft(before, newest)) return { kind: 'nothing_due' }
  // A process of an older fold version knows of no cold parts, and would merge without them: it is refused from here on. The
  // tables of a replay are read once, and thrown away.
  const mayMove = request.is_scratch !== true && request.is_brief !== true && pointer.fold_version === FOLD_VERSION
  const bounds = request.cold_bounds ?? COLD_BOUNDS
  const merged = await mergeTables(deps, before, deltas, newest, { intake: intakeOf(request), bounds: mayMove ? bounds : undefined })
  // The revision of a merge is a delta itself, without files: alone it is no reason for another.
  const isChanged = merged.parts_written > 0 || merged.parts_dropped > 0
  if (!isChanged && deltas.length < MERGE_DUE_DELTAS) return { kind: 'nothing_due' }
  const checkpoint: Checkpoint = {
    schema: 'servo-checkpoint-v1',
    name: newUlid(deps.clock.now(), deps.random),
    sequence: pointer.sequence,
    revision: pointer.revision,
    fold_version: pointer.fold_version,
    tables: merged.tables,
    cold: merged.cold,
    cold_through: merged.cold_through,
    open_segments: listOf(openSegmentNames({ checkpoint: before, deltas, revision: newest })),
    ...(before.folded_since === undefined ? {} : { folded_since: before.folded_since }),
  }
  await writeOnce(deps, checkpointName(checkpoint.name), encodeCheckpoint(checkpoint))
  const publication = {
    checkpoint,
    files_removed: filesReplaced(before, deltas, merged.tables),
    started,
    is_scratch: request.is_scratch === true,
    page_revisions: request.page_revisions,
  }
  const sequence = await publishCheckpoint(deps, pointer, publication)
  if (sequence === undefined) return { kind: 'lost' }
  return { kind: 'merged', sequence, parts_written: merged.parts_written, rows_written: merged.rows_written, cold_rows: merged.cold_rows }
}

const intakeOf = ({ whole, is_brief }: MergeRequest): Intake => (whole === true ? 'whole' : is_brief === true ? 'fresh' : 'due')

function isLittle(deltas: readonly Revision[]): boolean {
  const rows = deltas.flatMap(({ files_added }) => files_added).reduce((sum, file) => sum + file.rows, 0)
  return deltas.length < MERGE_DUE_DELTAS * MERGE_FEW_SHARE && rows < MERGE_DUE_ROWS * MERGE_FEW_SHARE
}

/** `bounds` undefined: no row goes cold. */
type MergeScope = { readonly intake: Intake; readonly bounds: ColdBounds | undefined }

type MergedTables = {
  readonly tables: Map<TableName, readonly Part[]>
  cold: Checkpoint['cold']
  cold_through: Checkpoint['cold_through']
  cold_rows: number
  parts_written: number
  parts_dropped: number
  rows_written: number
}

async function mergeTables(
  deps: PublishDeps,
  before: Checkpoint,
  deltas: readonly Revision[],
  newest: Revision,
  { intake, bounds }: MergeScope,
): Promise<MergedTables> {
  const { cold, cold_through } = before
  const merged: MergedTables = { tables: new Map(), cold, cold_through, cold_rows: 0, parts_written: 0, parts_dropped: 0, rows_written: 0 }
  const inputs = new Map(TABLE_NAMES.map((table) => [table, inputsOf(table, before, deltas)] as const))
  const move = bounds === undefined ? undefined : await coldStepOf({ files: deps.files, before, newest, parts: inputs }, bounds.rows_max)
  const moved = new Map<TableName, MovedRows>()
  for (const [table, parts] of inputs) {
    if (parts.length === 0) continue
    const apart =
      move === undefined || bounds === undefined ? undefined : await moveRows(deps, table, parts, { move, newest, moved, bounds })
    if (apart !== undefined) {
      moved.set(table, apart)
      merged.tables.set(table, apart.kept)
      merged.parts_written += apart.kept.length + apart.cold.length
      merged.cold_rows += rowsOf(apart.cold)
      merged.rows_written += rowsOf(apart.kept) + rowsOf(apart.cold)
      continue
    }
    const after: Part[] = []
    for (const group of groupsOf(table, parts, newest)) {
      if (group.kind === 'expired') {
        merged.parts_dropped += group.parts.length
        continue
      }
      const plan = planMerge(group.parts, group.isFinished ? 'whole' : intake)
      if (plan === undefined) {
        after.push(...group.parts)
        continue
      }
      const written = await writeRun(deps, table, plan, group.period, newest)
      after.push(...plan.kept, ...written)
      merged.parts_written += written.length
      merged.rows_written += rowsOf(written)
    }
    merged.tables.set(table, await withDayFilters(deps, table, after, newest))
  }
  if (move !== undefined) {
    merged.cold = await coldListsAfter(deps, before.cold, moved, newest)
    merged.cold_through = move.before
  }
  return merged
}

const inputsOf = (table: TableName, before: Checkpoint, deltas: readonly Revision[]): readonly Part[] => [
  ...(before.tables.get(table) ?? []),
  ...deltas.flatMap((delta) => freshParts(delta, table)),
]

const rowsOf = (parts: readonly Part[]): number => parts.reduce((sum, { rows }) => sum + rows, 0)

type Group =
  | { readonly kind: 'live'; readonly period: number | null; readonly parts: readonly Part[]; readonly isFinished: boolean }
  | { readonly kind: 'expired'; readonly parts: readonly Part[] }

/** One group, or one for each hour or day: rows of different periods never share a part, so that an end drops files. */
function groupsOf(table: TableName, parts: readonly Part[], newest: Revision): Group[] {
  const { period } = tableNamed(table)
  if (period === undefined) return [{ kind: 'live', period: null, parts, isFinished: false }]
  const byPeriod = new Map<number, Part[]>()
  for (const part of parts) {
    assert(part.period !== null || part.periods !== undefined, `${part.name} does not say which periods of ${table} it mixes.`)
    for (const start of part.period === null ? (part.periods ?? []) : [part.period]) {
      byPeriod.set(start, [...(byPeriod.get(start) ?? []), part])
    }
  }
  const fold_time = instantMs(newest.fold_time)
  const cut = expiryCut(table, fold_time, newest.retention)
  return [...byPeriod].map(([start, ofPeriod]) =>
    cut !== undefined && start < cut.at
      ? { kind: 'expired', parts: ofPeriod }
      : { kind: 'live', period: start, parts: ofPeriod, isFinished: start + period.unit_ms <= fold_time },
  )
}

async function writeRun(
  deps: PublishDeps,
  table: TableName,
  { inputs, kept, level }: MergePlan,
  period: number | null,
  newest: Revision,
): Promise<Part[]> {
  const written: Part[] = []
  for await (const file of deps.files.merge(table, inputs, mergeOptions(table, period, newest, kept.length === 0))) {
    written.push(await writePart(deps, table, file, { level, period }))
  }
  return written
}

/** An expired row may only go where nothing older of its key is left: else the older version would come to light again. */
function mergeOptions(table: TableName, start: number | null, newest: Revision, mayDrop: boolean): MergeOptions {
  const { period } = tableNamed(table)
  if (period !== undefined && start !== null) {
    return { rows_per_file: FILE_ROWS_MAX, only: { column: period.column, from: start, before: start + period.unit_ms } }
  }
  const drop_before = mayDrop ? expiryCut(table, instantMs(newest.fold_time), newest.retention) : undefined
  return { rows_per_file: FILE_ROWS_MAX, ...(drop_before === undefined ? {} : { drop_before }) }
}

function filesReplaced(before: Checkpoint, deltas: readonly Revision[], tables: ReadonlyMap<TableName, readonly Part[]>): string[] {
  const kept = new Set([...tables.values()].flatMap((parts) => parts.map(({ name }) => name)))
  const read = [...before.tables.values()].flatMap((parts) => parts.map(({ name }) => name))
  const fresh = deltas.flatMap(({ files_added }) => files_added.map(({ name }) => name))
  return [...read, ...fresh].filter((name) => !kept.has(name))
}

type CheckpointPublication = {
  readonly checkpoint: Checkpoint
  readonly files_removed: string[]
  readonly started: number
  readonly is_scratch: boolean
  readonly page_revisions: number | undefined
}

/** The sequence it was published as; undefined where another merge has replaced the checkpoint that this one read. */
async function publishCheckpoint(deps: PublishDeps, read: Pointer, publication: CheckpointPublication): Promise<number | undefined> {
  const { checkpoint, started, is_scratch, page_revisions } = publication
  for (let tries = 0; tries < PUBLISH_TRIES_MAX; tries++) {
    const { published: base, server_time } = await readPointer(deps.store)
    if (base === undefined || !isStillMine(read, base)) return undefined
    const { pointer } = base
    const chain_through = is_scratch ? 0 : await writeChainPages(deps, pointer, page_revisions)
    const newest = await readRevision(deps.store, pointer.sequence, pointer.revision)
    const revision = checkpointRevision(deps, newest, publication, server_time)
    await writeOnce(deps, revisionName(revision.sequence, revision.revision), encodeRevision(revision))
    if (deps.clock.elapsed() - started > MERGE_DEADLINE_MS) {
      throw unavailable('The merge took longer than its deadline and was not published: collection may take its files. It starts again.')
    }
    const swapped = await swapPointer(deps, pointerTo(revision, checkpoint, pointer, chain_through), base)
    if (swapped.kind !== 'lost') return revision.sequence
  }
  return undefined
}

const isStillMine = (read: Pointer, base: PublishedPointer): boolean =>
  base.pointer.checkpoint.name === read.checkpoint.name && base.pointer.fold_version === read.fold_version

/** Says nothing new about the ledger: every watermark and total is that of the revision before. */
function checkpointRevision(
  deps: PublishDeps,
  newest: Revision,
  { checkpoint, files_removed, is_scratch }: CheckpointPublication,
  published_at: number,
): Revision {
  const now = deps.clock.now()
  return {
    ...newest,
    revision: newUlid(now, deps.random),
    sequence: newest.sequence + (is_scratch ? 0 : 1),
    previous: newest.revision,
    checkpoint: checkpoint.name,
    turn_id: newUlid(now, deps.random),
    published_at: instantText(notBefore(newest, published_at)),
    segments: [],
    files_added: [],
    files_removed,
    counts: { applied: 0, duplicate: 0, refused: 0, quarantined: 0 },
  }
}
