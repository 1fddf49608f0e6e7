// Guards of the truth layer, and those of execution, limits, repair, replay and survival from the files beside it, each taken away
// by an edit, with the check that has to notice. The text to find is exact and occurs once: when the code moves on, its
// mutant has to follow.

import { AS_OF } from './as-of.js'
import { COLD } from './cold.js'
import { COPIES } from './copies.js'
import { CRON } from './cron.js'
import { EXECUTION } from './execution.js'
import { FRESH } from './fresh.js'
import { KEPT } from './kept.js'
import { LIMITS } from './limits.js'
import { LISTING } from './listing.js'
import { MAINTENANCE } from './maintenance.js'
import { MAPPINGS } from './mappings.js'
import { type Check, invariant, type Mutant, turn } from './mutant.js'
import { PACKS } from './packs.js'
import { PREFETCH } from './prefetch.js'
import { REPAIR } from './repair.js'
import { REPLAY_MUTANTS } from './replay.js'
import { RETENTION_MUTANTS } from './retention.js'
import { SCHEDULES } from './schedules.js'
import { SECURITY } from './security.js'
import { SQL } from './sql.js'
import { STORE } from './store.js'
import { SURVIVAL } from './survival.js'
import { TELEMETRY } from './telemetry.js'
import { TIMES } from './times.js'
import { VERIFY_MUTANTS } from './verify.js'

const APPEND = 'src/ledger/append.ts'
const SWAP = 'src/compactor/swap.ts'
const COLLECT = 'src/compactor/collect.ts'

/** A part of the crash enumeration: what no test has a story for. */
const crash = (stage: string, shard: string, says: string): Check => ({
  file: 'test/crash/main.ts',
  args: [stage, '--shard', shard],
  says,
})
const I1 = 'i01-acknowledged-events-stay'
const I3 = 'i03-no-event-folded-twice'
const I5 = 'i05-one-chain'
const I6 = 'i06-named-files-exist'
const I7 = 'i07-one-revision-a-reader'
const I11 = 'i11-trigger-and-requests-together'
const I12 = 'i12-durable-before-acknowledged'
const I13 = 'i13-visible-at-the-claimed-time'
const I14 = 'i14-set-sum'

const APPENDING: readonly Mutant[] = [
  {
    name: 'ack before durability',
    edits: [
      {
        file: APPEND,
        find: 'const [twin, answer] = await Promise.all([find(before, keys_sha256), tryPut(name, bytes, meta)])',
        replace: `const landing = tryPut(name, bytes, meta)
        const head = { name, generation: '1', creation_time: instantText(minute), size: bytes.length, crc32c: '', meta }
        if (attempt === 0) return { kind: 'appended', head, bytes }
        const [twin, answer] = await Promise.all([find(before, keys_sha256), landing])`,
      },
    ],
    killed_by: invariant(I12, 'I12 a store that takes nothing is answered with an error that says to append again'),
  },
  {
    name: 'throttled create taken for a landed one',
    edits: [
      {
        file: APPEND,
        find: "lastFailure = answer.kind === 'unknown' ? answer.error : answer.kind",
        replace: `const head = { name, generation: '1', creation_time: instantText(minute), size: bytes.length, crc32c: '', meta }
        if (answer.kind === 'throttled') return { kind: 'appended', head, bytes }
        lastFailure = answer.kind`,
      },
    ],
    killed_by: invariant(I12, 'I12 throttled on a create that did not land is neither an acknowledgement nor a failure'),
  },
  {
    name: 'lost answer taken for a landed append',
    edits: [
      {
        file: APPEND,
        find: "if (isOperatingError(error, 'unavailable')) return { kind: 'unknown', error } as const",
        replace: `if (isOperatingError(error, 'unavailable')) {
        const head = { name, generation: '1', creation_time: instantText(storeTime()), size: bytes.length, crc32c: '', meta }
        return { kind: 'stored', head, server_time: storeTime(), late: false } as const
      }`,
      },
    ],
    killed_by: crash('memory', '1/16', 'is durable, and it is not stored'),
  },
  {
    name: 'dedupe by leading key only',
    edits: [
      {
        file: APPEND,
        find: 'const keys_sha256 = keysSha256(scope, events)',
        replace: 'const keys_sha256 = keysSha256(scope, events.slice(0, 1))',
      },
    ],
    killed_by: invariant('i08-one-run-per-run-key', 'I8 two turns see one tick, and the definition was edited in between'),
  },
  {
    name: 'own landed append taken for that of another',
    edits: [{ file: APPEND, find: "if (head.meta['write_id'] === write_id) return", replace: "if (head.meta['write_id'] === '') return" }],
    killed_by: invariant(I1, 'I1 a lost answer on a conditional create is an acknowledgement, once the object is found'),
  },
  {
    name: 'minute before not looked at',
    edits: [
      {
        file: APPEND,
        find: 'if (isDurable(twin, minute - MINUTE_MS)) return',
        replace: 'if (attempt < 0 && isDurable(twin, minute)) return',
      },
    ],
    killed_by: invariant(I3, 'I3 a duplicate across a minute boundary is found when it is appended'),
  },
  {
    name: 'creation check skipped',
    edits: [{ file: APPEND, find: 'if (!answer.late && isInItsMinute(answer.head, minute)) return', replace: 'if (!answer.late) return' }],
    killed_by: invariant(
      I12,
      'I12 a create that was stalled into an old minute is no acknowledgement, and is folded once when it is found',
    ),
  },
  {
    name: 'creation check skipped for what is found',
    edits: [
      {
        file: APPEND,
        find: "typeof found === 'object' && isInItsMinute(found, minute)",
        replace: "typeof found === 'object' && minute > 0",
      },
    ],
    killed_by: turn(
      'append',
      'a create that was stalled into a closed minute, and whose answer was lost, is not acknowledged when it is found',
    ),
  },
  {
    name: 'name floor dropped',
    edits: [
      {
        file: 'src/core/keys.ts',
        find: 'Math.max(floorTo(now_ms, MINUTE_MS), closed_through_ms + MINUTE_MS)',
        replace: 'floorTo(now_ms, MINUTE_MS)',
      },
    ],
    killed_by: turn('listing', 'no segment of a writer that was suspended between two appends lies in a minute that is closed'),
  },
  {
    name: "basis not in the segment's name",
    edits: [
      {
        file: 'src/core/keys.ts',
        find: "basis === undefined ? '-' : sha256Hex(canonicalJson(basis))",
        replace: "basis === undefined ? '-' : '+'",
      },
    ],
    killed_by: turn('append', 'the same key on another basis is appended, in the same minute too'),
  },
]

const FOLDING: readonly Mutant[] = [
  {
    name: 'order by ULID',
    edits: [
      {
        file: 'src/ledger/read.ts',
        find: 'compareStamps(left.creation_time, right.creation_time) || (left.segment_name < right.segment_name ? -1 : 1)',
        replace: 'left.segment_name < right.segment_name ? -1 : 1',
      },
    ],
    killed_by: turn('listing', 'what was acknowledged first is folded first, whatever the names are'),
  },
  {
    name: 'second listing skipped',
    edits: [{ file: 'src/turn/order.ts', find: 'store.page_is_snapshot && first.page_count === 1', replace: 'first.page_count > 0' }],
    killed_by: invariant(
      I13,
      'I13 an object that is acknowledged between two pages of a listing is not folded before the one that it followed',
    ),
  },
  {
    name: 'watermark advanced past an unread listing',
    edits: [
      {
        file: 'src/turn/pass.ts',
        find: 'return Math.max(pass.closed_through, beforeUnread)',
        replace: 'return Math.max(pass.closed_through, byTime)',
      },
    ],
    killed_by: invariant(I13, 'I13 no turn closes a minute while something acknowledged in it is unread'),
  },
  {
    name: 'T0 claimed with a segment unread',
    edits: [
      {
        file: 'src/turn/pass.ts',
        find: 'Math.min(pass.now, oldestUnread)',
        replace: 'Math.min(pass.now, oldestUnread * 2)',
      },
    ],
    killed_by: invariant(I13, 'I13 a turn that had to stop half-way claims no more than it folded'),
  },
  {
    name: 'memory folded instead of stored bytes',
    edits: [
      {
        file: APPEND,
        find: 'else if (isDurable(found, minute)) return acknowledge(found)',
        replace: 'else if (isDurable(found, minute)) return { ...(await acknowledge(found)), bytes }',
      },
      {
        file: 'src/turn/decide.ts',
        find: 'bytes !== undefined && crc32cHex(bytes) === head.crc32c ? bytes',
        replace: 'bytes !== undefined ? bytes',
      },
    ],
    killed_by: turn('publish', 'a decision that somebody else has stored in other words is folded in the stored words'),
  },
  {
    name: 'refused key indexed',
    edits: [
      {
        file: 'src/projections/fold.ts',
        find: 'rememberRefused(rows, event, entity(event), refused, moment)',
        replace: 'rememberRefused(rows, event, entity(event), refused, moment)\n  rememberApplied(rows, event, moment.context)',
      },
    ],
    killed_by: invariant('i23-refused-key-stays-free', 'I23 the same key on a valid basis is applied, at once'),
  },
  {
    name: 'duplicate folded across revisions',
    edits: [
      {
        file: 'src/projections/outcome.ts',
        find: "liveRow(rows, context, 'idempotency_keys', idempotency_key) !== undefined",
        replace: "liveRow(rows, context, 'idempotency_keys', idempotency_key)?.row_version === 0",
      },
    ],
    killed_by: invariant(I3, 'I3 a duplicate that was appended minutes later is dropped by the index, in another revision'),
  },
  {
    name: 'request applied though its trigger was refused',
    edits: [{ file: 'src/projections/fold.ts', find: 'isApplied.get(causation_id) === false', replace: 'rows === undefined' }],
    killed_by: invariant(I11, 'I11 what a refused trigger requests is refused with it'),
  },
  {
    name: 'late segment folded',
    edits: [
      {
        file: 'src/ledger/stored-segment.ts',
        find: 'if (!isLate(head, listing_window_ms)) return',
        replace: 'if (window_end > 0) return',
      },
    ],
    killed_by: invariant(I12, 'I12 a create that was stalled past the listing window is quarantined when it is found'),
  },
  {
    name: 'oversized segment read',
    edits: [{ file: 'src/ledger/segment.ts', find: 'if (bytes.length > SEGMENT_BYTES_MAX) {', replace: 'if (bytes.length < 0) {' }],
    killed_by: invariant('i02-every-event-has-one-outcome', 'I2 the ledger is applied + duplicate + refused + quarantined + unfolded'),
  },
  {
    name: 'hint about a folded segment believed',
    edits: [
      {
        file: 'src/turn/order.ts',
        find: 'inFoldOrder(heads.filter(({ segment_name }) => !folded.has(segment_name)))',
        replace: 'inFoldOrder(heads.filter(({ segment_name }) => folded !== undefined || segment_name))',
      },
    ],
    killed_by: invariant(I3, 'I3 a segment that two hints name is folded once, also when the second hint comes a turn later'),
  },
]

const PUBLISHING: readonly Mutant[] = [
  {
    name: 'CAS without precondition',
    edits: [
      {
        file: SWAP,
        find: 'return await store.put(POINTER_NAME, bytes, { if_generation })',
        replace: `const answer = await store.put(POINTER_NAME, bytes, { if_generation })
    const standing = await store.head(POINTER_NAME)
    if (answer.kind !== 'precondition_failed' || standing.kind === 'absent') return answer
    return await store.put(POINTER_NAME, bytes, { if_generation: standing.head.generation })`,
      },
    ],
    killed_by: invariant(I5, 'I5 a turn that lost its swap drops what it folded, and folds only what is still new'),
  },
  {
    name: 'own landed swap taken for a lost race',
    edits: [
      {
        file: SWAP,
        find: "if (published.pointer.revision === next.revision) return { kind: 'won', published }",
        replace: "if (published.pointer.revision === next.revision) return { kind: 'lost' }",
      },
    ],
    killed_by: invariant(I5, 'I5 a swap that landed and whose answer was lost is known to be ours'),
  },
  {
    name: 'stale revision published by a zombie',
    edits: [
      {
        file: 'src/compactor/publish.ts',
        find: 'import { type PublishedPointer, type Snapshot, snapshotAfterPublish } from',
        replace: 'import { type PublishedPointer, readPointer, type Snapshot, snapshotAfterPublish } from',
      },
      {
        file: 'src/compactor/publish.ts',
        find: 'pointerTo(revision, checkpoint, publication.base?.pointer), publication.base)',
        replace: 'pointerTo(revision, checkpoint, publication.base?.pointer), (await readPointer(deps.store)).published)',
      },
    ],
    killed_by: invariant(
      I5,
      'I5 a turn that was paused while it uploaded, and overtaken meanwhile, publishes nothing on top of what it has not read',
    ),
  },
  {
    name: 'files collected without a fence',
    edits: [
      {
        file: COLLECT,
        find: 'const fenced = await swapPointer(deps, published.pointer, published)',
        replace: "const fenced = { kind: 'won' }",
      },
    ],
    killed_by: invariant(I6, 'I6 a turn that is paused beyond the minimum age of collection, right before its swap, publishes nothing'),
  },
  {
    name: 'turn past its deadline goes on',
    edits: [
      { file: 'src/compactor/publish.ts', find: 'if (clock.elapsed() > publication.abort_after) {', replace: 'if (clock.elapsed() < 0) {' },
    ],
    killed_by: invariant(I6, 'I6 a turn that is paused while it uploads gives up when it wakes'),
  },
  {
    name: 'lower fold version goes on',
    edits: [{ file: 'src/turn/turn.ts', find: 'refuseNewerFold(published.pointer, foldVersionOf(deps))', replace: '' }],
    killed_by: invariant(I5, 'I5 a lower fold version stops, says so and publishes nothing'),
  },
  {
    name: 'pointer swapped before the files are there',
    edits: [{ file: 'src/compactor/publish.ts', find: 'await writeOnce(deps, name, bytes)', replace: 'void writeOnce(deps, name, bytes)' }],
    killed_by: turn('publish', 'an upload that stalls holds the publish up'),
  },
  {
    name: 'set-sum that never moves',
    edits: [
      {
        file: 'src/ledger/set-sum.ts',
        find: '(sum + BigInt(`0x${sha256Hex(`${segment_name}:${crc32c}`)}`)) % MODULUS',
        replace: '(sum + 0n * BigInt(`0x${sha256Hex(`${segment_name}:${crc32c}`)}`)) % MODULUS',
      },
    ],
    killed_by: invariant(I14, 'I14 the set-sum of the ledger is that of the revisions and the tail, and a lost segment is noticed'),
  },
]

const NEWEST_READ = turn(
  'publish',
  'a look-up and a page take the one that was recorded later from the runs of the base, whatever their ids say',
)

const READING: readonly Mutant[] = [
  {
    name: 'files of a merge with one page a column',
    edits: [{ file: 'src/tables/columns/parquet-writer.ts', find: "=== 'zstd' ? PAGE_BYTES", replace: "=== 'zstd' ? 16 * UNPAGED_BYTES" }],
    killed_by: { file: 'test/contract/parquet-groups.test.ts', title: 'are read by pages: a row costs a fraction of its group' },
  },
  {
    name: 'a column that is another in its last row remembered as the same in every row',
    edits: [
      {
        file: 'src/tables/groups/same-columns.ts',
        find: 'for (let row = 1; row < rows; row++) if (compareTexts',
        replace: 'for (let row = 1; row < rows - 1; row++) if (compareTexts',
      },
    ],
    killed_by: { file: 'test/contract/parquet-groups.test.ts', title: 'have the keys of partition_status that are there, and no others' },
  },
  {
    name: 'all files of a merge compared at once',
    edits: [{ file: 'src/tables/cache.ts', find: 'taken + next.size <= room', replace: 'taken < room * 9' }],
    killed_by: { file: 'test/contract/file-cache.test.ts', title: 'reads 1 of six files of 40 MB at a time' },
  },
  {
    name: 'newest row by event ULID in a look-up',
    edits: [
      {
        file: 'src/tables/lookup.ts',
        find: 'other.row_version < row.row_version',
        replace: "String(other['last_event_id']) < String(row['last_event_id'])",
      },
    ],
    killed_by: NEWEST_READ,
  },
  {
    name: 'newest row by event ULID on a page',
    edits: [
      {
        file: 'src/tables/page.ts',
        find: 'last.row.row_version < candidate.row.row_version',
        replace: "String(last.row['last_event_id']) < String(candidate.row['last_event_id'])",
      },
    ],
    killed_by: NEWEST_READ,
  },
  {
    name: 'outcome of a later event told for a refused one',
    edits: [
      {
        file: 'src/readers/wait.ts',
        find: "if (refusal !== undefined) return told('refused', sequence, refusal)",
        replace: "if (refusal !== undefined && applied_event_id === undefined) return told('refused', sequence, refusal)",
      },
    ],
    killed_by: turn('wait', 'is refused with its reason, also after another event has applied its key'),
  },
  {
    name: 'view that moves on',
    edits: [
      {
        file: 'src/readers/reader.ts',
        find: 'return snapshot === undefined ? undefined : viewOf(snapshot)',
        replace: `if (snapshot === undefined) return undefined
      const newest = () => viewOf(held ?? snapshot)
      return { snapshot, sequence: snapshot.revision.sequence, row: (...asked) => newest().row(...asked), page: (...asked) => newest().page(...asked) }`,
      },
    ],
    killed_by: invariant(I7, 'I7 a view shows one revision, whatever is published, merged and collected while it is read'),
  },
]

export const MUTANTS: readonly Mutant[] = [
  APPENDING,
  FOLDING,
  PUBLISHING,
  MAINTENANCE,
  READING,
  FRESH,
  LISTING,
  AS_OF,
  RETENTION_MUTANTS,
  PACKS,
  COLD,
  KEPT,
  COPIES,
  STORE,
  SQL,
  EXECUTION,
  REPAIR,
  REPLAY_MUTANTS,
  VERIFY_MUTANTS,
  SURVIVAL,
  SCHEDULES,
  SECURITY,
  MAPPINGS,
  LIMITS,
  PREFETCH,
  CRON,
  TELEMETRY,
  TIMES,
].flat()
