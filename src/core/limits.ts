// Every bound, with its unit in the name and its reason beside it (DATA section 2, DESIGN sections 2 and 3).
// What a message says about a bound comes from here, so that text and check cannot disagree.

import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './time.js'

const KB = 1_024
const MB = 1_024 * KB

// Events, batches, segments

/** In canonical JSON. Events stay small at any size of work: what is larger is paged, or a list by content. */
export const EVENT_BYTES_MAX = 256 * KB
/** A batch is folded within one revision, so its size bounds what a revision adds. */
export const BATCH_EVENTS_MAX = 2_000
export const BATCH_BYTES_MAX = 4 * MB
/** Below 8 MiB a write to GCS is one multipart request: atomic, its precondition evaluated at the end. */
export const SEGMENT_BYTES_MAX = 8 * MB
/** An event is never below 300 bytes, so no segment of good ones has more: what has is noise, one quarantine row of it. */
export const SEGMENT_EVENTS_MAX = 32_768
export const LIST_BYTES_MAX = 8 * MB
/** How much of something that cannot be folded is copied into its quarantine row; the segment itself is kept whole. */
export const QUARANTINE_RAW_BYTES_MAX = EVENT_BYTES_MAX

// Values inside events

/** Beyond this a list of assets or keys is an object of its own, named by its content. */
export const INLINE_KEYS_MAX = 100
/** Beyond this the pinned definitions of a run are a list by content. */
export const INLINE_PINS_MAX = 10
/** A page of logs is no error message; the rest belongs into the attempt's log. */
export const ERROR_MESSAGE_BYTES_MAX = 2 * KB
/** What a program compares, not a sentence. */
export const ERROR_CODE_CHARACTERS_MAX = 100
/** Some 150 frames. An error is kept with its task, and once more with each attempt that did not succeed. */
export const ERROR_STACK_CHARACTERS_MAX = 16 * KB
/** What a person gives as a reason fits a line or two of an audit page. */
export const REASON_CHARACTERS_MAX = 500
export const PROGRESS_MESSAGE_CHARACTERS_MAX = 200
/** Tags are searched and shown, they are no storage. */
export const TAGS_MAX = 50
export const TAG_KEY_CHARACTERS_MAX = 128
export const TAG_VALUE_CHARACTERS_MAX = 256
/** Kept in the task's row, which every turn holds while the run is open. */
export const TASK_METADATA_BYTES_MAX = 16 * KB
/** All current definitions are in the turn's memory: 1,900 of them at most in a location, 4 MB together. */
export const DEFINITION_BYTES_MAX = 64 * KB
/** INT32, in which tables count. */
export const COUNT_MAX = 2 ** 31 - 1
/** Longer than anything waits, and short enough for every instant that is computed from it to be a date. */
export const DURATION_SECONDS_MAX = 10 * 366 * 86_400
/** Delays that grow faster than this reach any bound at once. */
export const RETRY_FACTOR_MAX = 1_000

// Names

/** The length of a DNS label: tenant and workspace become parts of names elsewhere. */
export const TENANT_CHARACTERS_MAX = 63
export const ASSET_KEY_CHARACTERS_MAX = 200
export const NAME_CHARACTERS_MAX = 100
export const PARTITION_KEY_BYTES_MAX = 256
export const REQUEST_KEY_CHARACTERS_MAX = 128

// Schedules

/** Which expressions of a list a day fits is a bit each of one 32-bit number. */
export const CRON_LIST_MAX = 30
/** Times in the tables of all kinds of days of a list: 4 bytes each. A list by the minute has 1,440 a kind, by the second 86,400. */
export const CRON_LIST_TIMES_MAX = 1_000_000

// Deploys, runs, plans

/** A deploy is one batch of at most 2,000 events: 1,900 changes leave room for the location, pools and names. */
export const LOCATION_DEFINITIONS_MAX = 1_900
/** Their definitions together fit one batch, with what the events have around them. */
export const LOCATION_BYTES_MAX = 3 * MB
/** A plan is one batch: 10,000 tasks in pages of 200 are 50 events, and fit 4 MB by their short names. */
export const RUN_TASKS_MAX = 10_000
export const RUN_EDGES_MAX = 100_000
export const PLAN_PAGE_TASKS_MAX = 200
export const PLAN_PAGES_MAX = BATCH_EVENTS_MAX
/** Each finished task writes a partition_status row for every partition of it, within one revision. */
export const TASK_PARTITIONS_MAX = 10_000
/** Scattered partitions that an asset of a run is mapped to, as one list of them: some 2 MB of keys. */
export const MAPPED_KEYS_MAX = 100_000
/** Keys that are looked at one by one, to find the tasks that make them; where there are more, a task waits for all. */
export const MAPPED_KEYS_FOUND_MAX = 1_000_000
/** No partition ends later: the rules of zones are guesses that far ahead, and each year of a zone costs 2 ms to read. */
export const PARTITION_END_MS_MAX = Date.UTC(2200, 0, 1)
/** What the command line prints at once: some 20 MB. */
export const PARTITION_KEYS_LISTED_MAX = 1_000_000
/** Keys of two definitions that are looked up one by one, to tell how many a deploy adds: some 0.2 s. */
export const COMPARED_KEYS_MAX = 10_000
/** Rows of partitions that the dry run of a deploy reads, to tell how many keys end: some 3 s of them. */
export const DEPLOY_ROWS_READ_MAX = 200_000
/** A day each for three years; what repeats is a cron expression. */
export const PARTITION_EXCLUSIONS_MAX = 1_000
/** Keys have 256 bytes for all of them. */
export const DIMENSIONS_MAX = 10
export const PRIORITY_MIN = -100
export const PRIORITY_MAX = 100
export const PRIORITY_DEFAULT = 0
/** What a point of priority is worth in waiting: the lowest priority waits 200 minutes longer than the highest, and no more. */
export const PRIORITY_POINT_MS = MINUTE_MS
/** The cap on running tasks of a workspace that nobody set. */
export const GLOBAL_RUNNING_DEFAULT = 1_000
/** Of a location whose deploy does not say it; `servo deploy` always does. The fold depends on it. */
export const LOCATION_SLOTS_DEFAULT = 64

/** Of what an attempt may take to start, to beat and to end: two processes may know the store's clock to a second each, and with
 *  less an attempt would be lost for that alone. */
export const TIMEOUT_SECONDS_MIN = 1

/** An attempt that its worker gave back so often counts as lost from then on: something else is wrong. */
export const RELEASES_FREE_MAX = 20

// Workers

/** Attempts that a worker runs at once where nobody says otherwise: a laptop has about as many cores. */
export const WORKER_SLOTS_DEFAULT = 8

/** Attempts that a worker keeps beyond its slots, for each slot: where there is one publish a second, a slot has three seconds of
 *  work, down to tasks of a tenth of a second. */
const PREFETCH_PER_SLOT = 32
/** Of one worker, whatever its slots: it holds their dispatches in memory, and the largest are 2 MB. */
const PREFETCH_MAX = 256
export const prefetchOf = (slots: number): number => Math.min(slots * PREFETCH_PER_SLOT, PREFETCH_MAX)
/** Of a location, over all of its workers: those of several full ones, within the cap that a workspace has. */
export const LOCATION_PREFETCH_MAX = 1_000
/** Prefetched attempts are to last for so many publishes of the shortest interval. One passes until they are handed over and one until
 *  those are that replace them, and on a slow store each takes half as long again: with two, slots stood idle where each call of the
 *  store took 100 ms (8.6 tasks a second instead of 12.3). */
export const PREFETCH_PUBLISHES = 3
/** A slot that one attempt has had, or waited for, this long is not counted on: a few times what prefetched attempts wait for. */
export const PREFETCH_STALE_MS = 5 * SECOND_MS
/** A prefetched attempt that has not started after this long is taken back. Short, because it has places in pools all the while. */
export const PREFETCH_WAIT_MS_MAX = 10 * SECOND_MS
/** Each attempt's share in the moving average of a location: some twenty short attempts outweigh one that took a minute. The fold
 *  depends on it. */
export const ATTEMPT_MS_SHARE = 1 / 8

/** Attempts in one request to a worker: a thousand ready tasks are a few requests, and an answer comes soon. */
export const DISPATCHES_PER_REQUEST_MAX = 50
/** One request to a worker: well below the 32 MiB that a worker takes, and the 10 MB at which gateways before it are often set.
 *  The largest attempts are 2 MB each. One that is larger goes alone, and the worker says whether it takes it. */
export const DISPATCH_REQUEST_BYTES_MAX = 8 * MB
/** After a worker or a queue said that nothing gets through, until it is asked again: shorter than the time between two
 *  sweeps, so that a moment's trouble costs nothing, and doubled each time that it says so again. */
export const PAUSE_FIRST_MS = SECOND_MS
/** So that what is mended is noticed within a minute, a tenth of the time that an attempt has to start. */
export const PAUSE_LONGEST_MS = MINUTE_MS
/** What Cloud Tasks takes as one task, headers and all: its quotas say 1 MB, and this is the smaller reading of it. */
export const QUEUE_TASK_BYTES_MAX = 1_000_000
/** Callbacks in one request of a worker: those of a full worker are a few requests. */
export const CALLBACKS_PER_REQUEST_MAX = 200
/** Attempts that one request tells a worker to stop: all of a full workspace's. */
export const CANCELS_PER_REQUEST_MAX = 1_000
/** Ten times as long as one for the longest keys. */
export const TASK_TOKEN_CHARACTERS_MAX = 16 * KB
/** A host and a process id, or the name of a pod. */
export const WORKER_ID_CHARACTERS_MAX = 200
/** What an attempt may log in all: enough to find a fault, and no storage for data. */
export const LOG_BYTES_MAX = 10 * MB
/** One object of the store, and one request. */
export const LOG_CHUNK_BYTES_MAX = MB
export const LOG_LINES_PER_CHUNK_MAX = 5_000
/** A smaller chunk counts as this: an attempt has at most some ten thousand objects, however little is in each. */
export const LOG_CHUNK_BYTES_MIN = KB
/** What a process adds to an attempt's log before it asks the store what others have added: ten listings in all. */
export const LOG_COUNTED_BYTES_MAX = MB
/** So many digits sort the names of chunks by their numbers: a hundred times as many as fit into LOG_BYTES_MAX. */
export const LOG_CHUNK_DIGITS = 6
export const LOG_CHUNKS_MAX = 10 ** LOG_CHUNK_DIGITS
/** Entries of one log of starts: each holds an attempt at least, and a turn dispatches no more than this. */
export const START_LOG_DIGITS = 6
export const LOG_LINE_CHARACTERS_MAX = 64 * KB
/** With more upstream partitions than this, a dispatch carries no metadata of them: it would outgrow any request. */
export const UPSTREAM_METADATA_MAX = 100
/** Of an upstream asset whose partitions are other ones, a dispatch names no more than this. */
export const UPSTREAM_ROWS_MAX = 1_000
/** Rows of older definitions that are read past to find them: a hand-over waits for it. Beyond, what exists is looked up by key. */
export const UPSTREAM_SCANNED_ROWS_MAX = 10_000

// Requests to the API

export const REQUEST_BYTES_MAX = MB
/** All definitions of a location, LOCATION_BYTES_MAX of them, and what surrounds them. */
export const DEPLOY_REQUEST_BYTES_MAX = 8 * MB
/** A chunk of logs, with room for how the writer spells its JSON. */
export const LOGS_REQUEST_BYTES_MAX = 1.5 * MB
/** Many callbacks, or some whose metadata are as large as they may be. */
export const CALLBACKS_REQUEST_BYTES_MAX = 8 * MB
export const PAGE_ROWS_MAX = 100
export const PAGE_ROWS_DEFAULT = 50
export const LOG_LINES_PER_PAGE_MAX = 1_000
/** Below the time after which proxies give up an idle connection, by far. */
export const WAIT_MS_MAX = 30 * SECOND_MS
export const SELECTORS_MAX = 100
/** Half a batch: their events fit, whatever the reason says. */
export const CANCELLED_RUNS_MAX = 1_000
/** Free text of a requester that ends up in rows: a name, a version, a URL. */
export const SHORT_TEXT_CHARACTERS_MAX = 1_000
/** What an event of an attempt may hold in all, so that it fits EVENT_BYTES_MAX with what surrounds it. */
export const CALLBACK_BYTES_MAX = 192 * KB

// Schedules, sensors, backfills

export const CATCHUP_TICKS_MAX = 100
/** A day's misses run, but of many only the newest few: what is older is seldom what anybody waits for. */
export const CATCHUP_WINDOW_MINUTES_DEFAULT = 1_440
export const CATCHUP_TICKS_DEFAULT = 3
export const CATCHUP_WINDOW_MINUTES_MAX = Math.floor(DURATION_SECONDS_MAX / 60)
/** As many as list every value of every field. */
export const CRON_CHARACTERS_MAX = 1_000
/** How far an offset may lead away from the last complete partition: a century of hours. */
export const PARTITION_OFFSET_MAX = 1_000_000
/** Spans of instants that a change cut off and that nobody has counted yet. Beyond it, those of one cron and zone become one. */
export const OWED_SPANS_MAX = 20
/** Whatever cannot become one: a change beyond it is refused until a turn has counted. A row stays well below an event. */
export const OWED_SPANS_KEPT_MAX = 200
/** Of one tick: it and the runs that it requests are one batch, with room for those of older ticks beside it. */
export const TICK_RUN_REQUESTS_MAX = 1_000
/** Of why a tick FAILED: a hundred of them fit an event. */
export const TICK_MESSAGE_CHARACTERS_MAX = 500
/** Events of one round of decisions about schedules. After a long outage the rest is said in the next one, and never held in
 *  memory together. */
export const SCHEDULE_ROUND_EVENTS_MAX = 20_000
/** More is a list that nobody reads; a program asks again from the last one. */
export const PREVIEWED_FIRES_MAX = 1_000

// Retention

/** Longer than any client retries. */
export const CLAIM_KEPT_MS = 30 * DAY_MS
/** A day less than the idempotency window: after it a repeat is answered, and appends nothing. */
export const CLAIM_APPENDS_MS_MAX = 6 * DAY_MS
/** Counted from the end of the attempt. */
export const START_CLAIM_KEPT_MS = 7 * DAY_MS
/** Pages of a thousand names that one look at either sort of claims lists, six times an hour: where there are more, those that
 *  are old come to a share of what is listed at which as many go as come. */
export const COLLECT_CLAIM_PAGES_MAX = 100
/** Claims of either sort that one look removes: four million a day, as a thousand events a second leave, within some minutes. */
export const COLLECT_CLAIMS_MAX = 30_000
/** What `as_of` opens: every revision that stood within this long, which is far longer than a turn, a merge or a reader takes.
 *  No setting: whoever works on a revision relies on it. */
export const AS_OF_ALL_KEPT_MS = HOUR_MS
/** For this long, where nobody sets another, the last revision of each minute: at 10 publishes a second, one in 600. */
export const AS_OF_MINUTES_KEPT_HOURS = 24
/** For this long, where nobody sets another, the last revision of each hour: 720 at most, however much is published. */
export const AS_OF_HOURS_KEPT_DAYS = 30
/** Segments named longer ago are not listed any more; `local` reads one folder an hour, GCS pages of 1,000 names. */
export const LISTING_WINDOW_MS = 48 * HOUR_MS
export const LISTING_WINDOW_LOCAL_MS = HOUR_MS

// Append and turn

/** How far an object's creation may lie from the minute of its name; less than the slack by more than a listing takes. */
export const CREATION_SKEW_MS_MAX = 2 * MINUTE_MS
/** From its creation stamp until a write can be seen: a folder says beyond it that the write was late, and a request to Google
 *  Cloud Storage is given up. */
export const WRITE_MS_MAX = 30 * SECOND_MS
/** How far the clocks of one store's servers may lie apart, and more than any does. */
export const STORE_CLOCKS_APART_MS = 10 * SECOND_MS
/** How fast the clock of a process may go against that of its store: NTP corrects a clock by half a millisecond a second at most. */
export const STORE_CLOCK_DRIFT_MAX = 0.000_5
/** What a store's answer said of its clock is used for so long: the drift has made it worse than the next answer by then. */
export const STORE_CLOCK_AGE_MS_MAX = 10 * MINUTE_MS
/** Of so much time the best is kept: ten of them are in use. */
export const STORE_CLOCK_SLOT_MS = MINUTE_MS
/** By how much what two answers say of the clock may contradict each other: more than the clocks of servers that are set by
 *  each other lie apart, and than a server is late to change the second in its answers. */
export const STORE_WINDOWS_APART_MS = 100
/** Where turns follow one another, one in so many lists all minutes that are open, and the others those in which
 *  something may still be acknowledged. */
export const WHOLE_LISTING_EVERY_MS = 10 * SECOND_MS
/** A minute is closed when it ended this long before T0. */
export const CLOSED_MINUTE_SLACK_MS = 5 * MINUTE_MS
/** From the first unpublished fold to the publish: what a caller waits for others to join its revision. */
export const PUBLISH_AFTER_MS = 300
/** A turn that has worked this long publishes, yields and is called again. */
export const TURN_MS_MAX = SECOND_MS
/** The listing that finds what no poke announced; it backs off while nothing comes. */
export const BACKSTOP_MS = MINUTE_MS
export const BACKSTOP_IDLE_MS_MAX = 10 * MINUTE_MS
/** A reader that asked for what is fresh waits at most this long for the publish, and says when it was cut. */
export const FRESH_WAIT_MS_MAX = SECOND_MS
/** What such a reader folds by itself. Beyond it the turn is behind, and a preview of what it will publish says little. */
export const FRESH_FOLD_EVENTS_MAX = 5_000
export const FRESH_FOLD_AGE_MS_MAX = MINUTE_MS
/** A fold that takes longer is cut off, and the publish waited for. */
export const FRESH_FOLD_MS_MAX = 200
/** Events folded before the next look at the time: other requests wait for so long. */
export const FRESH_FOLD_SLICE_EVENTS = 500
/** The pointer is read by everyone, all the time. */
export const POINTER_BYTES_MAX = 64 * KB
export const CHAIN_PAGE_REVISIONS = 1_000
/** A turn older than this publishes nothing: collection may take its files. Far above what a turn needs on a slow store. */
export const TURN_DEADLINE_MS = 10 * MINUTE_MS
/** How often a turn compares its memory with what a fresh start would load: drift would be a bug, and must not last. */
export const HOT_STATE_CHECK_INTERVAL_MS = 3_600_000

/** How often a process that takes no turns looks for newer revisions, to take over at once: what it reads to do so costs some
 *  cents a day. Less and less often where it finds none, as where it publishes them itself. */
export const FOLLOW_MS = 5 * SECOND_MS
export const FOLLOW_IDLE_MS_MAX = MINUTE_MS

/** Events read and folded before the next look at the time: a slice stays well below PUBLISH_AFTER_MS. */
export const SLICE_EVENTS_MAX = 4_000
/** Rounds of decisions in one turn. A controller that has more to say than this repeats itself. */
export const RECONCILE_PASSES_MAX = 100

/** A turn that begins this long after something was due holds deadlines back, once: the answers to them may be under way.
 *  Smaller is safer, and slower to notice a worker that is gone. */
export const TURN_GAP_MS_MAX = 10 * SECOND_MS
/** The longest that they are held back: workers speak again within it, whatever their own period is. */
export const TURN_GAP_HOLD_MS_MAX = MINUTE_MS
/** So long after the newest revision asked for a turn, none has come: far longer than a turn and its publish take, and than the loop
 *  waits after an error. From then on the API calls itself degraded. */
export const TURN_OVERDUE_MS = 30 * SECOND_MS
/** What is appended waits for less than this on a healthy system, also where a store takes one publish a second: beyond it the
 *  time counts as overdue, and the loop is poked again. */
export const UNFOLDED_GRACE_MS = 10 * SECOND_MS
/** How often the probes of one API list the ledger at most, and only while nothing has published for TURN_OVERDUE_MS: on a bucket
 *  some cents a day. Scrapes of the metrics, which list it once a minute, spare some of these. */
export const UNFOLDED_LISTING_EVERY_MS = 15 * SECOND_MS
/** How often scrapes of one API's metrics list the ledger at most, however many servers scrape it: on a bucket 20 cents a month. */
export const GAUGES_LISTING_EVERY_MS = MINUTE_MS
/** For no longer than this do outages of the API hold deadlines back, however many there are and whenever a hold is given: then an automation that alone cannot reach it, and whose
 *  places are all taken by workers that are gone, goes on. An API that is restored from a fault is there again within it. */
export const API_OUTAGE_MS_MAX = 15 * MINUTE_MS
/** Only an API that has answered for so long without a break is well again: one that comes and goes is out all the while. Far
 *  longer than a hold goes on after an outage, so that outages which are not one never hold back without a gap (ADR 0052). */
export const API_STEADY_MS = 5 * MINUTE_MS
/** Nothing is declared lost while the facts of workers may lie unread for longer than this. */
export const LOSS_LAG_MS_MAX = 30 * SECOND_MS

// Tables

/** Raised with every change that can alter a row (DATA section 7). */
export const FOLD_VERSION = 5
/** Deltas that a reader opens one by one, and rows that every process holds decoded: either makes a merge due. */
export const MERGE_DUE_DELTAS = 64
export const MERGE_DUE_ROWS = 60_000
/** An eighth of what makes a merge due costs readers next to nothing, and is left until it is this old. */
export const MERGE_FEW_SHARE = 1 / 8
export const MERGE_FEW_KEPT_MS = DAY_MS
/** From MERGE_DUE_DELTAS to this many deltas publishing slows down more and more until a merge has caught up, to a publish a second
 *  (turn/publish-pace.ts). A quick turn takes 8 ms: without that, these filled in four seconds, sooner than a merge can end. */
export const DELTAS_MAX = 512
export const DELTAS_SLOW_MS = SECOND_MS
/** With so many a turn merges by itself before it does anything else: the pointer has room for a few more. As late as that, because a
 *  merge under way elsewhere loses to it: at a publish a second it has had more than seven minutes by then. */
export const DELTAS_TURN_MERGES = 960
/** A few megabytes: large enough to be worth a file, small enough to be fetched for one page. */
export const FILE_ROWS_MAX = 128 * 1_024
/** Days that go cold at once and get parts of their own; what is older goes with the first of them. More than one only where
 *  nobody published for a day, and at first. */
export const COLD_DAYS_APART_MAX = 7
/** Rows that one merge moves to cold parts, but for a day that has more: some minutes of work, well within MERGE_DEADLINE_MS. A
 *  workspace that never moved any, or whose tables were rebuilt, has years of them, and moves some with each merge. */
export const COLD_MOVE_ROWS_MAX = 10_000_000
/** Ids of runs that a move holds at once, at 100 bytes each: where a day has more, its tasks go a range of ids after the other. */
export const COLD_MOVE_IDS_MAX = 1_000_000
export const MERGE_DEADLINE_MS = 30 * MINUTE_MS
/** The longest that a reader works on one revision. */
export const READER_PIN_MS = 10 * MINUTE_MS
/** A temporary folder without a lock, which nothing was written into for so long, is of a process that is gone. */
export const TEMPORARY_FOLDER_UNLOCKED_MS = DAY_MS
/** A fold of a whole history ends with a round as short as this. What it is then compared with is kept for AS_OF_ALL_KEPT_MS and
 *  READER_PIN_MS after it was replaced, which is far longer than comparing takes. */
export const REFOLD_ROUND_MS_MAX = MINUTE_MS
/** A replay copies the checkpoint that it begins with: one that will be there for so long. */
export const CHECKPOINT_COPY_MS_MAX = 30 * MINUTE_MS
/** Older than every turn, merge and pin can be, with a margin: only then is a file that nobody names an orphan. */
export const ORPHAN_AGE_MS = 2 * Math.max(TURN_DEADLINE_MS, MERGE_DEADLINE_MS, READER_PIN_MS)

// Packs

/** No pack is larger: it is one request, and a reader holds it whole. */
export const PACK_BYTES_MAX = 64 * MB
/** What packing puts into one, unless a single segment needs more: two of them are in memory while one is put together, and a
 *  read of one is answered within the time after which reads are given up. */
export const PACK_BYTES_FULL = 16 * MB
/** A page that was packed for longer than this is not published, and begun anew: well below ORPHAN_AGE_MS. */
export const PACK_DEADLINE_MS = 30 * MINUTE_MS

// Maintenance

/** Between two looks by the clock at a workspace where something is published. */
export const MAINTENANCE_EVERY_MS = 10 * MINUTE_MS
/** At one where nothing was published for so long. What makes a merge due comes at once all the same; an orphan may be an hour
 *  older, and so may a segment that landed in a closed minute. */
export const MAINTENANCE_IDLE_EVERY_MS = HOUR_MS
/** Documents that maintenance remembers from one look to the next: some ten thousand revisions, far more than no page of the chain
 *  lists yet, and their pages. What is beyond is read again. */
export const DOCUMENTS_REMEMBERED_BYTES = 32 * MB

// Collection

/** Each part of a collection (packing, binding, sweeping, removing files) begins nothing more after this, and goes on with the next
 *  look, six times an hour: one step of each at least, so that none of them keeps the others away. */
export const COLLECT_PART_MS_MAX = 2 * MINUTE_MS
