// The coefficients of the growth model, measured on real workspaces: what one event, one segment, one publish, one merge and one
// look of maintenance bring, in objects, bytes and calls.

import { HOUR_MS, MINUTE_MS } from '../../src/core/time.js'
import { tableNamed } from '../../src/projections/tables.js'
import { STEADY_EVENTS_PER_RUN } from '../../test/fixtures/steady-runs.js'
import { withFolder } from '../workspace.js'
import { OPEN_RUNS, openVirtual, type VirtualWorkspace } from './virtual-workspace.js'

/** What a publish of so many events brings. */
export type PublishCoefficients = {
  readonly events: number
  readonly l0_files: number
  readonly l0_bytes: number
  readonly l0_rows: number
  readonly revision_bytes: number
}

export type Coefficients = {
  /** Of an event that is a segment of its own, and of one of many in a segment. */
  readonly event_alone_bytes: number
  readonly event_together_bytes: number
  readonly publish: readonly PublishCoefficients[]
  /** Of each segment that a revision folds. */
  readonly revision_segment_bytes: number
  /** Calls of a turn that found one segment. */
  readonly turn_gets: number
  readonly turn_puts_besides_files: number
  /** Of a merge of all tables: parts with their filters, and what it writes and reads besides parts and L0 files. */
  readonly merge_files: number
  readonly merge_puts_besides_files: number
  readonly merge_gets_a_delta: number
  /** A merge's revision names the files that it replaces, and its checkpoint all parts, and segments of open minutes. */
  readonly merge_revision_file_bytes: number
  readonly checkpoint_part_bytes: number
  readonly checkpoint_segment_bytes: number
  /** After everything was merged: rows that stay, and those of idempotency keys, which go after a week. */
  readonly base_bytes_per_event: number
  readonly key_bytes_per_event: number
  /** Of a part or a filter, however few rows it has. */
  readonly base_file_bytes: number
  /** Tables of the base that are not by the hour or the day, with one for each filter. */
  readonly base_files_a_run: number
  readonly pack_bytes_ratio: number
  /** A look through the listing window, for each revision that was published in it. */
  readonly window_gets_a_revision: number
  /** Of the volume of a page, over those of its revisions. */
  readonly volume_bytes_ratio: number
  /** Packing and binding, for each revision and each segment of a page. */
  readonly pack_gets_a_revision: number
  readonly pack_gets_a_segment: number
}

const PUBLISHED_EVENTS = [1, 10, 100, 1_000] as const
/** From the request of so many runs to their end: each sort of event takes part as often as in a run. */
const ROUND_EVENTS = OPEN_RUNS * STEADY_EVENTS_PER_RUN
const PUBLISHES = { 1: ROUND_EVENTS, 10: ROUND_EVENTS / 10, 100: 7, 1000: 2 } as const
const WARM_EVENTS = ROUND_EVENTS
const DELTAS = 16
const DELTA_EVENTS = 20
const WINDOW_MS = HOUR_MS
const PAGE = 20

export async function measureCoefficients(): Promise<Coefficients> {
  const events = await eventBytes()
  const publish: PublishCoefficients[] = []
  for (const count of PUBLISHED_EVENTS) publish.push(await publishOf(count))
  return { ...events, publish, ...(await turnAndMerge()), ...(await looks()) }
}

const inWorkspace = <T>(run: (workspace: VirtualWorkspace) => Promise<T>): Promise<T> =>
  withFolder(async (folder) => {
    const workspace = await openVirtual({ folder, listing_window_ms: WINDOW_MS, page_revisions: PAGE })
    try {
      return await run(workspace)
    } finally {
      await workspace.close()
    }
  })

/** The first runs are all requests and plans: what is measured comes after them. */
async function warm(workspace: VirtualWorkspace): Promise<void> {
  await workspace.append(WARM_EVENTS)
  await workspace.turn()
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

const eventBytes = () =>
  inWorkspace(async (workspace) => {
    await warm(workspace)
    const before = new Set((await workspace.objects('ledger/')).map(({ name }) => name))
    await workspace.append(ROUND_EVENTS, ROUND_EVENTS)
    await workspace.append(ROUND_EVENTS, 1)
    const sizes = (await workspace.objects('ledger/')).filter(({ name }) => !before.has(name)).map(({ size }) => size)
    const together = Math.max(...sizes)
    return { event_alone_bytes: (sum(sizes) - together) / ROUND_EVENTS, event_together_bytes: together / ROUND_EVENTS }
  })

const publishOf = (events: (typeof PUBLISHED_EVENTS)[number]): Promise<PublishCoefficients> =>
  inWorkspace(async (workspace) => {
    await warm(workspace)
    const before = (await workspace.revisions()).length
    for (let i = 0; i < PUBLISHES[events]; i++) {
      await workspace.append(events)
      await workspace.turn()
    }
    const revisions = (await workspace.revisions()).slice(before)
    const added = revisions.map(({ files_added }) => files_added)
    const each = (total: number) => total / PUBLISHES[events]
    return {
      events,
      l0_files: each(sum(added.map((files) => files.length))),
      l0_bytes: each(sum(added.flat().map(({ bytes }) => bytes))),
      l0_rows: each(sum(added.flat().map(({ rows }) => rows))),
      revision_bytes: each(sum(revisions.map(({ size }) => size))),
    }
  })

const turnAndMerge = () =>
  inWorkspace(async (workspace) => {
    const newest = async () => (await workspace.revisions()).at(-1) as Awaited<ReturnType<VirtualWorkspace['revisions']>>[number]
    await warm(workspace)
    await workspace.append(100, 1)
    const turn = await workspace.callsOf(() => workspace.turn())
    const one = await newest()
    await workspace.append(100, 100)
    await workspace.turn()
    const hundred = await newest()
    await workspace.merge()
    for (let i = 0; i < DELTAS; i++) {
      await workspace.append(DELTA_EVENTS)
      await workspace.turn()
    }
    const folded = (await workspace.revisions()).slice(-DELTAS)
    const before = new Set((await workspace.objects(BASE)).map(({ name }) => name))
    const merge = await workspace.callsOf(() => workspace.merge())
    const added = (await workspace.objects(BASE)).filter(({ name }) => !before.has(name))
    const merge_files = added.length
    const merged = await newest()
    const { checkpoint, size } = await workspace.checkpoint()
    const open_bytes = JSON.stringify(checkpoint.open_segments).length
    const parts = sum([...checkpoint.tables.values()].map(({ length }) => length))
    const base = await baseBytes(workspace)
    const data_bytes = DELTAS * DELTA_EVENTS * (base.base_bytes_per_event + base.key_bytes_per_event)
    return {
      turn_gets: turn.get + turn.head,
      turn_puts_besides_files: turn.put - one.files_added.length,
      revision_segment_bytes: (hundred.size - one.size) / 99,
      merge_files,
      merge_puts_besides_files: merge.put - merge_files,
      merge_gets_a_delta: (merge.get + merge.head - sum(folded.map(({ files_added }) => files_added.length))) / DELTAS,
      merge_revision_file_bytes: merged.size / merged.files_removed.length,
      checkpoint_part_bytes: (size - open_bytes) / parts,
      checkpoint_segment_bytes: open_bytes / checkpoint.open_segments.length,
      base_file_bytes: (sum(added.map(({ size }) => size)) - data_bytes) / merge_files,
      ...base,
    }
  })

const BASE = 'state/orchestration/base/'
const RUN_TURNS = 6
const RUN_EVENTS = 2_000

/** Everything in one run of each table and period, so that nothing lies twice. */
async function baseBytes(workspace: VirtualWorkspace) {
  for (let i = 0; i < RUN_TURNS; i++) {
    await workspace.append(RUN_EVENTS, 20)
    await workspace.turn()
  }
  await workspace.mergeWhole()
  const { checkpoint } = await workspace.checkpoint()
  const sizes = new Map((await workspace.objects(BASE)).map(({ name, size }) => [name, size]))
  const events = (await workspace.revisions()).at(-1)?.applied_total ?? 0
  const files = [...checkpoint.tables].flatMap(([table, parts]) =>
    parts.flatMap(({ name, filter }) =>
      [name, ...(filter === null ? [] : [filter])].map((file) => ({ table, size: sizes.get(file) ?? 0 })),
    ),
  )
  const bytesOf = (some: readonly { readonly size: number }[]) => sum(some.map(({ size }) => size)) / events
  return {
    base_bytes_per_event: bytesOf(files.filter(({ table }) => table !== 'idempotency_keys')),
    key_bytes_per_event: bytesOf(files.filter(({ table }) => table === 'idempotency_keys')),
    base_files_a_run: files.filter(({ table }) => tableNamed(table).period === undefined).length,
  }
}

const REVISIONS = 'manifests/orchestration/revisions/'

const looks = () =>
  inWorkspace(async (workspace) => {
    const publishes = 3 * PAGE
    const every_ms = MINUTE_MS / 2
    for (let i = 0; i < publishes; i++) {
      await workspace.append(4, 2)
      await workspace.turn()
      workspace.pass(every_ms)
    }
    await workspace.merge()
    // The last five minutes are open, and looked at by no look.
    const window = await workspace.callsOf(() => workspace.findMissed())
    workspace.pass(WINDOW_MS + 10 * MINUTE_MS)
    const segments = (await workspace.objects('ledger/orchestration/')).length
    const singles_bytes = sum((await workspace.objects('ledger/orchestration/')).map(({ size }) => size))
    const revisions_bytes = sum((await workspace.objects(REVISIONS)).map(({ size }) => size))
    const pack = await workspace.callsOf(() => workspace.pack())
    const packed_bytes = sum((await workspace.objects('ledger/orchestration-packs/')).map(({ size }) => size))
    const left_bytes = sum((await workspace.objects('ledger/orchestration/')).map(({ size }) => size))
    const packed_segments = segments - (await workspace.objects('ledger/orchestration/')).length
    const volumes = (await workspace.objects('manifests/orchestration/chain/')).filter(({ name }) => name.endsWith('.revisions.ndjson.gz'))
    const bound_bytes = revisions_bytes - sum((await workspace.objects(REVISIONS)).map(({ size }) => size))
    return {
      window_gets_a_revision: window.get / publishes,
      pack_bytes_ratio: packed_bytes / (singles_bytes - left_bytes),
      volume_bytes_ratio: sum(volumes.map(({ size }) => size)) / bound_bytes,
      // Once for its segments, and once for its volume.
      pack_gets_a_revision: 2,
      pack_gets_a_segment: (pack.get - 2 * 3 * PAGE) / packed_segments,
    }
  })
