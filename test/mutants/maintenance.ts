// Guards of merges, collections and the loop that calls for them, each taken away by an edit.

import { invariant, type Mutant, turn } from './mutant.js'

const COLLECT = 'src/compactor/collect.ts'
const COLLECT_CLAIMS = 'src/compactor/collect-claims.ts'
const MERGE = 'src/compactor/merge.ts'
const DAMAGED = 'damaged-filters'
const I5 = 'i05-one-chain'
const I6 = 'i06-named-files-exist'
const I16 = 'i16-collection-keeps-what-is-reachable'

export const MAINTENANCE: readonly Mutant[] = [
  {
    name: 'publishes that slow down all at once',
    edits: [{ file: 'src/turn/publish-pace.ts', find: 'Math.max(0, share)) ** 2', replace: 'Math.max(0, Math.floor(share))) ** 2' }],
    killed_by: turn('pace', 'where nobody merges, revisions do not pile up within seconds'),
  },
  {
    name: 'publishes that wait before a merge is due',
    edits: [
      {
        file: 'src/turn/publish-pace.ts',
        find: '(delta_count - MERGE_DUE_DELTAS) / (DELTAS_MAX - MERGE_DUE_DELTAS)',
        replace: 'delta_count / DELTAS_MAX',
      },
    ],
    killed_by: {
      file: 'src/turn/publish-pace.test.ts',
      title: 'is nothing until a merge is due, and a second where merges do not keep up',
    },
  },
  {
    name: 'a damaged filter that stops every look-up',
    edits: [{ file: 'src/tables/lookup.ts', find: "if (!isOperatingError(error, 'corrupt')) throw error", replace: 'throw error' }],
    killed_by: turn(DAMAGED, 'turns fold what is new, know what is not, and report each filter that they meet once'),
  },
  {
    name: 'a damaged filter that is read again by every look-up',
    edits: [{ file: 'src/tables/lookup.ts', find: 'if (damaged.isSkipped(name)) return undefined', replace: '' }],
    killed_by: turn(DAMAGED, 'each is read once, and once more after a merge'),
  },
  {
    name: 'a damaged filter that is reported again and again',
    edits: [{ file: 'src/tables/damaged-filters.ts', find: 'if (!state.isReported) report?.()', replace: 'report?.()' }],
    killed_by: turn(DAMAGED, 'turns fold what is new, know what is not, and report each filter that they meet once'),
  },
  {
    name: 'a filter over a day rebuilt over nothing',
    edits: [
      {
        file: 'src/compactor/base/repair-filters.ts',
        find: 'builds.set(part.day_filter, async () => filterThatAdmitsAll())',
        replace: 'builds.set(part.day_filter, async () => collectDigests().toFilter())',
      },
    ],
    killed_by: turn(DAMAGED, 'maintenance rebuilds what turns have met: with the same bytes, and over a day one that admits every key'),
  },
  {
    name: 'damaged filters that verify takes for whole',
    edits: [
      {
        file: 'src/compactor/verify-files.ts',
        find: 'return isFilter(name) ? filterProblem(name, answer.bytes) : undefined',
        replace: 'return isFilter(name) ? undefined : undefined',
      },
    ],
    killed_by: turn(DAMAGED, 'verify names each that is damaged or gone, with what to do, and a turn goes on without one that is gone'),
  },
  {
    name: 'a backup that takes a rebuilt filter for damage',
    edits: [
      {
        file: 'src/compactor/backup/revision-copy.ts',
        find: "(name.endsWith(FILTER_ENDING) ? 'beside' : 'refuse')",
        replace: "(name === '' ? 'beside' : 'refuse')",
      },
    ],
    killed_by: turn(DAMAGED, 'a backup goes on where the one before has other bytes under the name of a filter that was rebuilt'),
  },
  {
    name: 'merge dropping a newer L0',
    edits: [
      {
        file: MERGE,
        find: 'pointerTo(revision, checkpoint, pointer, chain_through)',
        replace: 'pointerTo(revision, checkpoint, read, chain_through)',
      },
    ],
    killed_by: invariant(I5, 'I5 a merge that lost a race takes its place on top, and drops nothing newer'),
  },
  {
    name: 'collector ignoring age',
    edits: [{ file: COLLECT, find: 'server_time - stampMs(creation_time) > ORPHAN_AGE_MS', replace: 'stampMs(creation_time) > 0' }],
    killed_by: invariant(I16, 'I16 files that a turn has uploaded and not published yet are too young to go'),
  },
  {
    name: 'merge past its deadline goes on',
    edits: [{ file: MERGE, find: 'deps.clock.elapsed() - started > MERGE_DEADLINE_MS', replace: 'deps.clock.elapsed() < started' }],
    killed_by: invariant(I6, 'I6 a merge that is paused beyond the minimum age of collection publishes nothing'),
  },
  {
    name: 'collector going on for as long as there is something',
    edits: [{ file: COLLECT, find: 'clock.elapsed() - started > bounds.part_ms_max', replace: 'clock.elapsed() - started < 0' }],
    killed_by: invariant(I16, 'I16 a collection that finds more than it has time for takes a part, and the next ones take the rest'),
  },
  {
    name: 'turn that leaves the pointer to grow',
    edits: [
      {
        file: 'src/turn/turn.ts',
        find: 'if (!isRoomScarce(deps, workspace)) return server_time',
        replace: 'if (isRoomScarce(deps, workspace) || server_time > 0) return server_time',
      },
    ],
    killed_by: turn('make-room', 'merges by itself before the pointer is full, and says so'),
  },
  {
    name: 'turn that merges more than is fresh',
    edits: [{ file: MERGE, find: "is_brief === true ? 'fresh' : 'due'", replace: "'due'" }],
    killed_by: turn('make-room', 'leaves it to maintenance to write runs again, and to move what has gone cold'),
  },
  {
    name: 'turn that moves what has gone cold',
    edits: [{ file: MERGE, find: ' && request.is_brief !== true', replace: '' }],
    killed_by: turn('make-room', 'leaves it to maintenance to write runs again, and to move what has gone cold'),
  },
  {
    name: 'merges that wait for a collection',
    edits: [
      {
        file: 'src/workflows/maintenance.ts',
        find: 'if (wait_ms === undefined || !due.merge) await',
        replace: 'while (isCollecting) await wf.sleep(50)\n      if (wait_ms === undefined || !due.merge) await',
      },
    ],
    killed_by: { file: 'test/temporal/maintenance-loop.test.ts', title: 'merges while a collection takes long, and collects by the clock' },
  },
  {
    name: 'loop beginning anew while it collects',
    edits: [{ file: 'src/workflows/maintenance.ts', find: 'isLast() && !isCollecting', replace: 'isLast()' }],
    killed_by: { file: 'test/replay/replay.test.ts', title: 'all of them are replayed by the workflows as they are now' },
  },
  {
    name: 'collector taking the claims of attempts that may still start',
    edits: [
      { file: COLLECT_CLAIMS, find: ' || isActive(task.state)) return null', replace: ') return null' },
      { file: COLLECT_CLAIMS, find: 'return task.finished_at', replace: 'return task.finished_at ?? 0' },
    ],
    killed_by: turn('collect-claims', 'stays while its attempt may start or runs, and seven days after it was over'),
  },
  {
    name: 'collector beginning at the same claims each time',
    edits: [{ file: COLLECT_CLAIMS, find: 'sha256Hex(String(begin_at))', replace: "sha256Hex('begin')" }],
    killed_by: turn('collect-claims', 'goes with all that are as old, however many, some with each look'),
  },
  {
    name: 'expired row dropped in a partial merge',
    edits: [{ file: MERGE, find: 'const drop_before = mayDrop ? ', replace: 'const drop_before = mayDrop !== undefined ? ' }],
    killed_by: turn('publish', 'a row that has expired does not uncover its older version in a run that a merge leaves alone'),
  },
  {
    name: 'merge forgetting folded segments of open minutes',
    edits: [
      {
        file: 'src/tables/folded-names.ts',
        find: 'ulidTime(instant) > closed_through',
        replace: 'ulidTime(instant) > closed_through * 2',
      },
    ],
    killed_by: turn('publish', 'a process that starts from a merged checkpoint knows what is folded in minutes that are still open'),
  },
  {
    name: 'newest row by event ULID in a merge',
    edits: [
      {
        file: 'src/tables/parquet-merge.ts',
        find: 'const versions = left.is_loaded ? versionAt(layout, right) - versionAt(layout, left) : 0',
        replace: `const idOf = ({ columns, row }: Cursor) => String(decodeColumns(layout, columns)[row]?.['last_event_id'])
  const versions = !left.is_loaded || versionAt(layout, right) === versionAt(layout, left) ? 0 : idOf(right) < idOf(left) ? -1 : 1`,
      },
    ],
    killed_by: turn('publish', 'a merge keeps the one that was recorded later, whatever their ids say'),
  },
  {
    name: 'maintenance that reads every revision with each look',
    edits: [{ file: 'src/activities/maintenance.ts', find: 'rememberingStore(deps.store)', replace: 'deps.store' }],
    killed_by: turn(
      'maintenance',
      'a look reads no revision that the look before it has read, and says that an idle workspace is looked at in an hour',
    ),
  },
  {
    name: 'a document that was damaged on its way and is remembered',
    edits: [
      {
        file: 'src/storage/document-memory.ts',
        find: "answer.kind === 'found' && crc32cHex(answer.bytes) === answer.head.crc32c",
        replace: "answer.kind === 'found' && crc32cHex(answer.bytes) !== ''",
      },
    ],
    killed_by: { file: 'test/contract/document-memory.test.ts', title: 'that was damaged on its way is not remembered' },
  },
  {
    name: 'a document of another generation that is remembered',
    edits: [{ file: 'src/storage/document-memory.ts', find: " || howLong(name) === 'for_ever'", replace: " || howLong(name) !== 'no'" }],
    killed_by: {
      file: 'test/contract/document-memory.test.ts',
      title: 'that may be another one costs a look at its generation, and is read again where it is',
    },
  },
  {
    name: 'scrapes that list the ledger each time',
    edits: [
      {
        file: 'src/readers/gauges.ts',
        find: 'listed_at - known.listed_at < GAUGES_LISTING_EVERY_MS',
        replace: 'listed_at < known.listed_at',
      },
    ],
    killed_by: {
      file: 'test/api/automation-away.test.ts',
      title: 'is looked for by scrapes with a listing a minute at most, and what is folded meanwhile is taken off at once',
    },
  },
  {
    name: 'a loop that is paused in the tables alone, and is not looked after',
    edits: [{ file: 'src/activities/loop-looks.ts', find: ' && counted.paused === expected.paused', replace: '' }],
    killed_by: {
      file: 'test/temporal/loop-looks.test.ts',
      title:
        'loops are listed at the start, where counts differ from the rows, after an hour and where pokes may be lost; else they are counted',
    },
  },
]
