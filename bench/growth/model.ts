// What a workspace grows to: objects and bytes of each kind after so many seconds of a steady flow, and calls and money a day by
// then. Pure arithmetic over measured coefficients; `test/growth/growth.test.ts` holds it against what a real workspace counts.

import {
  AS_OF_ALL_KEPT_MS,
  AS_OF_HOURS_KEPT_DAYS,
  AS_OF_MINUTES_KEPT_HOURS,
  CHAIN_PAGE_REVISIONS,
  CLAIM_KEPT_MS,
  CLOSED_MINUTE_SLACK_MS,
  COLLECT_CLAIM_PAGES_MAX,
  COLLECT_CLAIMS_MAX,
  CREATION_SKEW_MS_MAX,
  FILE_ROWS_MAX,
  LISTING_WINDOW_MS,
  PACK_BYTES_FULL,
  READER_PIN_MS,
  START_CLAIM_KEPT_MS,
  STORE_CLOCKS_APART_MS,
  WHOLE_LISTING_EVERY_MS,
  WRITE_MS_MAX,
} from '../../src/core/limits.js'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { RETENTION } from '../../src/projections/retention.js'
import { PAGE_SIZE } from '../../src/storage/object-store.js'
import type { Flow } from './flow.js'
import type { Coefficients } from './measure.js'

const s = (ms: number): number => ms / SECOND_MS

export type Setting = {
  readonly listing_window_s: number
  readonly page_revisions: number
  /** Between two looks of maintenance by the clock. */
  readonly look_s: number
  /** Rows that are over for longer lie in parts that no checkpoint lists one by one; null: it lists all. */
  readonly cold_after_s: number | null
  /** Requests of one `get`, as the adapter of Google Cloud Storage makes it: the object's resource, and its body. */
  readonly requests_a_get: number
  /** Processes that read tables: the automation's hand-over, and the API. */
  readonly reading_processes: number
  /** Tables that such a process is asked about after each publish. */
  readonly tables_read: number
}

export const GCS_SETTING: Setting = {
  listing_window_s: LISTING_WINDOW_MS / SECOND_MS,
  page_revisions: CHAIN_PAGE_REVISIONS,
  look_s: 600,
  cold_after_s: s(RETENTION.cold_after_days * DAY_MS),
  requests_a_get: 2,
  reading_processes: 1,
  tables_read: 3,
}

export const KINDS = ['segments', 'packs', 'revisions', 'volumes', 'checkpoints', 'chain', 'l0', 'base', 'starts', 'claims'] as const
export type Kind = (typeof KINDS)[number]
export type Amount = { readonly count: number; readonly bytes: number }
export type Stock = Readonly<Record<Kind, Amount>>

const WEEK_S = s(7 * DAY_MS)
/** Minutes that are not closed, and the one that runs: what a turn lists once in `WHOLE_LISTING_EVERY_MS`. */
const OPEN_S = s(CLOSED_MINUTE_SLACK_MS) + 90
/** What the others list: from the beginning of the minute after that, which is half a minute away. */
const RECENT_S = s(CREATION_SKEW_MS_MAX + WRITE_MS_MAX + STORE_CLOCKS_APART_MS) - 30
const START_ENTRY_BYTES = 400
const CLAIM_BYTES = 1_500
const CHAIN_ENTRY_BYTES = 150

/** Everything that lies there after so many seconds, with a look of maintenance every `look_s`. */
export function stockAfter(flow: Flow, coefficients: Coefficients, setting: Setting, seconds: number): Stock {
  const { segments_per_s, publishes_per_s, merges_per_s, publish, events_per_s } = flow
  const { listing_window_s, page_revisions, look_s } = setting
  const revisions_per_s = publishes_per_s + merges_per_s
  const page_s = page_revisions / revisions_per_s
  // A page is packed as a whole, when its last segment is past the window, by the look that comes next.
  const pages = Math.max(0, Math.floor((seconds - listing_window_s - look_s / 2) / page_s))
  const single_s = seconds - pages * page_s
  const bytes_per_s = events_per_s * flow.segment_bytes_per_event
  const page_bytes = bytes_per_s * page_s * coefficients.pack_bytes_ratio
  const kept = keptPublishes(flow, seconds, look_s)
  const revisions = revisions_per_s * seconds
  const base = baseAfter(flow, coefficients, setting, seconds)
  const base_files = Math.min(merges_per_s * seconds * coefficients.merge_files, base.files + kept.checkpoints * coefficients.merge_files)
  return {
    segments: { count: segments_per_s * single_s, bytes: bytes_per_s * single_s },
    packs: { count: pages * (Math.max(1, Math.ceil(page_bytes / PACK_BYTES_FULL)) + 1), bytes: pages * page_bytes },
    // A page's revisions are bound when its segments are packed.
    revisions: { count: revisions_per_s * single_s, bytes: single_s * revisionBytes(flow, coefficients) },
    volumes: { count: pages, bytes: pages * page_s * revisionBytes(flow, coefficients) * coefficients.volume_bytes_ratio },
    checkpoints: {
      count: kept.checkpoints + 1,
      // Each lists the whole base of its time, and what is named in open minutes.
      bytes:
        kept.checkpoints *
        (coefficients.checkpoint_part_bytes * base.listed + coefficients.checkpoint_segment_bytes * segments_per_s * OPEN_S),
    },
    chain: { count: Math.floor(revisions / page_revisions), bytes: revisions * CHAIN_ENTRY_BYTES },
    l0: { count: kept.deltas * publish.l0_files, bytes: kept.deltas * publish.l0_bytes },
    base: { count: base_files, bytes: base.bytes + base_files * coefficients.base_file_bytes },
    starts: waiting(flow.start_entries_per_s, s(START_CLAIM_KEPT_MS), seconds, look_s, START_ENTRY_BYTES),
    claims: waiting(flow.claims_per_s, s(CLAIM_KEPT_MS), seconds, look_s, CLAIM_BYTES),
  }
}

/** A second's: those of publishes name their segments, those of merges the files that they replace. */
function revisionBytes({ publishes_per_s, segments_per_s, merges_per_s, publish }: Flow, coefficients: Coefficients): number {
  const replaced = (publishes_per_s * publish.l0_files) / merges_per_s + coefficients.merge_files
  return (
    publishes_per_s * publish.revision_bytes +
    segments_per_s * coefficients.revision_segment_bytes +
    merges_per_s * replaced * coefficients.merge_revision_file_bytes
  )
}

/** What `as_of` keeps: revisions need the deltas between them and their checkpoint, and the checkpoint's parts. */
export function keptPublishes({ publishes_per_s, merges_per_s }: Flow, seconds: number, look_s: number) {
  const merge_s = 1 / merges_per_s
  // A look comes half its interval late, on average.
  const all_s = Math.min(seconds, s(AS_OF_ALL_KEPT_MS + READER_PIN_MS) + look_s / 2)
  const tier = (unit_s: number, from_s: number, kept_s: number) => {
    const span_s = Math.max(0, Math.min(seconds, kept_s + unit_s + s(READER_PIN_MS)) - from_s)
    // Merges that are rarer than the unit: of their deltas all up to the last end of a unit. Merges that come more often: of
    // one of them half its deltas, for each unit.
    const share = merge_s >= unit_s ? 1 - unit_s / 2 / merge_s : merge_s / 2 / unit_s
    return { deltas: span_s * publishes_per_s * share, checkpoints: Math.min(span_s * merges_per_s, span_s / unit_s) }
  }
  const minutes = tier(s(MINUTE_MS), all_s, s(AS_OF_MINUTES_KEPT_HOURS * HOUR_MS))
  const hours = tier(s(HOUR_MS), Math.max(all_s, s(AS_OF_MINUTES_KEPT_HOURS * HOUR_MS)), s(AS_OF_HOURS_KEPT_DAYS * DAY_MS))
  return {
    // Those of the last hour reach back to the checkpoint below the oldest of them.
    deltas: Math.min(seconds, all_s + merge_s / 2) * publishes_per_s + minutes.deltas + hours.deltas,
    checkpoints: all_s * merges_per_s + minutes.checkpoints + hours.checkpoints,
  }
}

/** Of a table's runs four lie in a tier, and the fifth makes all of them one of the next (`src/compactor/merge-plan.ts`): as many
 *  tiers as the number of merges has digits by five, with two runs in each on average. */
const runsAfter = (merges: number): number => Math.max(1, 2 * (Math.log(Math.max(1, merges)) / Math.log(5)))
/** Of a run of six tasks, which is 20 events: itself and its key, and of each task its row, its edges, its dispatch and its
 *  partition; of these the keys and the partitions are never cold. */
const ROWS_PER_EVENT = 1.3
/** Two thirds of the parts have a filter. */
const FILES_A_PART = 1.5
const NEVER_COLD_ROWS_PER_EVENT = 0.35

function baseAfter({ events_per_s, merges_per_s }: Flow, coefficients: Coefficients, { look_s, cold_after_s }: Setting, seconds: number) {
  const merges = merges_per_s * seconds
  const keys_s = Math.min(seconds, WEEK_S)
  const cold_s = cold_after_s === null ? 0 : Math.max(0, seconds - cold_after_s)
  const splitFiles = (rows: number) => (rows * FILES_A_PART) / FILE_ROWS_MAX
  // A large run has a file for each so many rows. Keys have a part or more for each hour of a week, and both have filters.
  const runs = coefficients.base_files_a_run * runsAfter(merges)
  const keys = 2 * (keys_s / s(HOUR_MS) + (events_per_s * keys_s) / FILE_ROWS_MAX)
  const live = runs + keys + splitFiles(events_per_s * seconds * ROWS_PER_EVENT)
  const cold = splitFiles(events_per_s * cold_s * (ROWS_PER_EVENT - NEVER_COLD_ROWS_PER_EVENT))
  // What merges have replaced is kept for as long as `as_of` may open it: within a day a row is written once a tier.
  const day_s = Math.min(seconds, s(DAY_MS) + look_s)
  const rewritten = events_per_s * day_s * coefficients.base_bytes_per_event * (runsAfter(merges_per_s * day_s) / 2)
  const bytes = events_per_s * (seconds * coefficients.base_bytes_per_event + keys_s * coefficients.key_bytes_per_event) + rewritten
  const listed = (live - cold) / FILES_A_PART
  return { files: live, bytes, listed }
}

/** Removed after a time, and no more of them a look than the bound: what is above it stays. */
function waiting(per_s: number, kept_s: number, seconds: number, look_s: number, bytes: number): Amount {
  const removed_per_s = Math.min(per_s, COLLECT_CLAIMS_MAX / look_s)
  const count = per_s * seconds - removed_per_s * Math.max(0, seconds - kept_s)
  return { count, bytes: count * bytes }
}

export type DayCalls = {
  /** Inserts and listings. */
  readonly class_a: Readonly<Record<string, number>>
  /** Everything that reads one object. */
  readonly class_b: Readonly<Record<string, number>>
  readonly deletes: number
  /** How many reads one look through the listing window makes, one after the other. */
  readonly window_reads: number
}

/** A day's calls at this age. Names say who calls. */
export function callsOfDay(flow: Flow, coefficients: Coefficients, setting: Setting, seconds: number, get_s: number): DayCalls {
  const { publishes_per_s, merges_per_s, segments_per_s, foreign_segments_per_s, publish } = flow
  const { listing_window_s, page_revisions, look_s, requests_a_get, reading_processes, tables_read } = setting
  const day = s(DAY_MS)
  const stock = stockAfter(flow, coefficients, setting, seconds)
  const kept = keptPublishes(flow, seconds, look_s)
  const revisions_per_s = publishes_per_s + merges_per_s
  const pagesOf = (names: number) => Math.max(1, Math.ceil(names / PAGE_SIZE))
  const listingsOf = (names: number) => pagesOf(names) * (names > PAGE_SIZE ? 2 : 1)
  const whole_per_s = Math.min(publishes_per_s, 1 / s(WHOLE_LISTING_EVERY_MS))
  const recent = segments_per_s * (RECENT_S + 1 / publishes_per_s)
  const listings_per_s = whole_per_s * listingsOf(segments_per_s * OPEN_S) + (publishes_per_s - whole_per_s) * listingsOf(recent)
  // It reads what was published since the look before it, begins a minute early, and walks back to the last full page.
  const since_s = Math.min(seconds, look_s + s(MINUTE_MS))
  const walked = Math.min(revisions_per_s * seconds, page_revisions / 2)
  const window_reads = revisions_per_s * since_s * coefficients.window_gets_a_revision + walked
  const looks = day / (look_s + window_reads * get_s)
  const pages = (revisions_per_s * day) / page_revisions
  const page_segments = segments_per_s * (page_revisions / revisions_per_s)
  const packing = seconds > listing_window_s ? pages : 0
  const chain_reads =
    page_revisions / 2 + Math.min(seconds, s(DAY_MS)) * (revisions_per_s / page_revisions) + Math.min(720, (seconds / day) * 24)
  const gets = (count: number) => count * requests_a_get
  return {
    class_a: {
      segments: segments_per_s * day,
      'claims and starts': (flow.claims_per_s + flow.start_entries_per_s) * day,
      'L0 files': publishes_per_s * publish.l0_files * day,
      'revisions and pointer': publishes_per_s * coefficients.turn_puts_besides_files * day,
      'listings by turns': listings_per_s * day,
      merges: merges_per_s * (coefficients.merge_files + coefficients.merge_puts_besides_files) * day,
      packs: packing * (3 + 2 * pagesOf(page_segments) + pagesOf(stock.revisions.count)),
      'listings by maintenance':
        looks *
        (pagesOf(stock.l0.count + stock.base.count) +
          pagesOf(stock.segments.count) +
          Math.min(COLLECT_CLAIM_PAGES_MAX, pagesOf(stock.starts.count) + 1) +
          Math.min(COLLECT_CLAIM_PAGES_MAX, pagesOf(stock.claims.count) + 1) +
          pagesOf(stock.packs.count) +
          2 * pagesOf(stock.chain.count + stock.volumes.count)),
    },
    class_b: {
      turns: gets((publishes_per_s * (coefficients.turn_gets - 1) + foreign_segments_per_s) * day),
      'merges and their L0 files': gets(
        (publishes_per_s * (publish.l0_files + coefficients.merge_gets_a_delta) + merges_per_s * coefficients.merge_files) * day,
      ),
      'API: pointer': gets(flow.pointer_reads_per_s * day),
      'API: tables': gets(reading_processes * (publishes_per_s * (1 + tables_read) + merges_per_s * coefficients.merge_files) * day),
      packs: gets(packing * (coefficients.pack_gets_a_revision * page_revisions + coefficients.pack_gets_a_segment * page_segments)),
      'look through the window': gets(looks * window_reads),
      'what `as_of` keeps': gets(looks * (chain_reads + kept.checkpoints)),
    },
    deletes: deletesOfDay(flow, coefficients, setting, seconds),
    window_reads,
  }
}

/** What was made and is not there: of the last hour, times 24. */
function deletesOfDay(flow: Flow, coefficients: Coefficients, setting: Setting, seconds: number): number {
  const made_per_s = {
    segments: flow.segments_per_s,
    revisions: flow.publishes_per_s + flow.merges_per_s,
    l0: flow.publishes_per_s * flow.publish.l0_files,
    base: flow.merges_per_s * coefficients.merge_files,
    starts: flow.start_entries_per_s,
    claims: flow.claims_per_s,
  }
  const [now, before] = [seconds, seconds - s(HOUR_MS)].map((age) => stockAfter(flow, coefficients, setting, age))
  if (now === undefined || before === undefined) return 0
  const gone = (Object.keys(made_per_s) as (keyof typeof made_per_s)[]).map(
    (kind) => made_per_s[kind] * s(HOUR_MS) - (now[kind].count - before[kind].count),
  )
  return gone.reduce((sum, count) => sum + Math.max(0, count), 0) * 24
}

export type Prices = {
  readonly storage_gib_month: number
  readonly class_a_million: number
  readonly class_b_million: number
}

export const totalOf = (values: Readonly<Record<string, number>>): number => Object.values(values).reduce((sum, value) => sum + value, 0)

const GIB = 1_024 ** 3
const MONTH_DAYS = 365 / 12

/** Dollars a day: storage of what lies there, and the day's calls. Deletes are free. */
export function costOfDay(stock: Stock, calls: DayCalls, prices: Prices) {
  const bytes = KINDS.reduce((sum, kind) => sum + stock[kind].bytes, 0)
  const storage = ((bytes / GIB) * prices.storage_gib_month) / MONTH_DAYS
  const class_a = (totalOf(calls.class_a) / 1e6) * prices.class_a_million
  const class_b = (totalOf(calls.class_b) / 1e6) * prices.class_b_million
  return { storage, class_a, class_b, total: storage + class_a + class_b }
}
