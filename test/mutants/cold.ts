// Guards of cold parts and of the filters over days: what goes and when, what is read where, and what collection keeps.

import { type Check, type Mutant, turn } from './mutant.js'

const MOVE = 'src/compactor/base/cold.ts'
const STEP = 'src/compactor/base/cold-step.ts'
const LISTS = 'src/compactor/base/cold-lists.ts'
const REACH = 'src/compactor/reach.ts'
const FIND = 'src/tables/cold/find.ts'

const cold = (title: string): Check => turn('cold', title)
const steps = (title: string): Check => turn('cold-steps', title)
const days = (title: string): Check => turn('day-filters', title)

const APART = 'has in the base what is younger than the limit, and in cold parts, a day each, all else'
const CHANGED = 'is read as it is now: from above the base, from the base, and as a late one from another part'
const KEPT = 'is whole to every check, and loses to collection what nobody needs any more'
const GO = 'go with their day, and are kept until then'

export const COLD: readonly Mutant[] = [
  {
    name: 'rows that go cold a day too early',
    edits: [
      {
        file: 'src/projections/retention.ts',
        find: 'floorTo(fold_time, DAY_MS) - cold_after_days * DAY_MS',
        replace: 'floorTo(fold_time, DAY_MS) - (cold_after_days - 1) * DAY_MS',
      },
    ],
    killed_by: cold('goes by fold time alone, and by whole days of it'),
  },
  {
    name: 'rows that have gone cold left in the base as well',
    edits: [{ file: MOVE, find: "...(going === undefined ? {} : { cold: { test: going.all, keeps: 'hot' } }),", replace: '' }],
    killed_by: cold(APART),
  },
  {
    name: 'tasks that stay when their run goes',
    edits: [
      {
        file: MOVE,
        find: "const runs = moved.get('runs')?.runs",
        replace: "const runs = moved.get('quarantine')?.runs",
      },
    ],
    killed_by: { file: 'test/contract/sql.test.ts', title: 'has the rows of cold parts, and those above them, as the reader has them' },
  },
  {
    name: 'a move of years at once',
    edits: [{ file: STEP, find: 'rows > rows_max', replace: 'rows > 1_000 * rows_max' }],
    killed_by: steps('goes a day at a time where a merge has room for no more, and is all there in the end'),
  },
  {
    name: 'a workspace that stops half-way with what has gone cold',
    edits: [{ file: 'src/compactor/merge.ts', find: ' && !isColdLeft(before, newest)', replace: '' }],
    killed_by: steps('is gone on with by whoever looks by the clock, though nothing else is due'),
  },
  {
    name: 'tasks of one range of runs lost with another',
    edits: [{ file: MOVE, find: '...(led === undefined ? {} : { led }),\n    ...(going', replace: '...(going' }],
    killed_by: steps('goes with its runs a range of ids after the other, where a day has more than memory'),
  },
  {
    name: 'ids of a day held all at once',
    edits: [{ file: 'src/compactor/base/moved-runs.ts', find: 'if (count % ids_max !== 0) continue', replace: 'if (count > 0) continue' }],
    killed_by: steps('goes with its runs a range of ids after the other, where a day has more than memory'),
  },
  {
    name: 'a move by a process whose version is not the workspace’s',
    edits: [{ file: 'src/compactor/merge.ts', find: ' && pointer.fold_version === FOLD_VERSION', replace: '' }],
    killed_by: cold('that is older reads no cold parts, and none are made before the first turn of this one'),
  },
  {
    name: 'a checkpoint of a turn that forgets the cold parts',
    edits: [{ file: 'src/compactor/publish.ts', find: 'cold: snapshot?.checkpoint.cold ?? new Map(),', replace: 'cold: new Map(),' }],
    killed_by: cold('that is newer takes them over with its first checkpoint'),
  },
  {
    name: 'a newer version in a late part passed over by pages',
    edits: [{ file: 'src/tables/page.ts', find: 'is_late === true)', replace: 'is_late === false)' }],
    killed_by: cold(CHANGED),
  },
  {
    name: 'filters of late cold parts asked for what leads a key',
    edits: [{ file: 'src/tables/page.ts', find: 'cold.some((other) => other === part) ?', replace: 'cold.length < 0 ?' }],
    killed_by: cold(CHANGED),
  },
  {
    name: 'what was found in a cold part taken for what lies above it',
    edits: [{ file: 'src/tables/page.ts', find: 'const itself = isOfCold ? 0 : 1', replace: 'const itself = 1' }],
    killed_by: {
      file: 'test/properties/page-and-lookup.test.ts',
      title: 'hides what is cold behind the one part above it that has a newer version, and asks none where it is not cold',
    },
  },
  {
    name: 'the oldest cold version of a key taken for the newest',
    edits: [{ file: FIND, find: 'lists.toReversed()', replace: 'lists' }],
    killed_by: cold(CHANGED),
  },
  {
    name: 'sub-lists opened for rows that are not over',
    edits: [
      {
        file: FIND,
        find: 'if (lists.length === 0 || asksForOpen(table, where)) return NO_PARTS',
        replace: 'if (lists.length === 0) return NO_PARTS',
      },
    ],
    killed_by: cold('opens none for runs that are not over'),
  },
  {
    name: 'sub-lists opened whatever instants they have',
    edits: [{ file: FIND, find: 'if (!timesFit(list, where) || ', replace: 'if (' }],
    killed_by: cold('opens no sub-list for a page of the last day, and one month after the other for what is older'),
  },
  {
    name: 'a filter that misses the keys of a part',
    edits: [
      {
        file: 'src/compactor/base/filters.ts',
        find: 'for (const part of parts) {\n    for await',
        replace: 'for (const part of parts.slice(1)) {\n    for await',
      },
    ],
    killed_by: cold('finds each of its rows by key'),
  },
  {
    name: 'a finished month written again',
    edits: [{ file: LISTS, find: 'list.filters.length > 0 || !isOver ?', replace: '!isOver ?' }],
    killed_by: cold('names one sub-list a month, of which a finished one never changes again'),
  },
  {
    name: 'sub-lists that collection takes for orphans',
    edits: [{ file: REACH, find: '    files.add(list.name)\n', replace: '' }],
    killed_by: cold(KEPT),
  },
  {
    name: 'cold parts that collection takes for orphans',
    edits: [
      {
        file: REACH,
        find: '((await openColdList(list)) ?? []).flatMap(filesOfPart)',
        replace: '[(await openColdList(list)) ?? []].flatMap(() => [])',
      },
    ],
    killed_by: cold(KEPT),
  },
  {
    name: 'sub-lists that collection never looks at',
    edits: [{ file: 'src/compactor/collect.ts', find: '...checkpoints, ...lists, ...files]', replace: '...checkpoints, ...files]' }],
    killed_by: cold(KEPT),
  },
  {
    name: 'filters over a day that collection takes for orphans',
    edits: [
      {
        file: 'src/compactor/reached.ts',
        find: '[name, filter ?? [], day_filter ?? []]',
        replace: '[name, filter ?? [], day_filter === name ? [] : []]',
      },
    ],
    killed_by: days(GO),
  },
  {
    name: 'a filter over a day that is not over',
    edits: [{ file: 'src/compactor/base/day-filters.ts', find: 'day + DAY_MS <= instantMs(fold_time) && ', replace: '' }],
    killed_by: days('have one filter a finished day, and none of today'),
  },
  {
    name: 'filters over days that nobody asks',
    edits: [
      {
        file: 'src/tables/lookup.ts',
        find: 'part.day_filter === undefined ? sorted : (ofDay.get(part.day_filter) ?? sorted)',
        replace: 'sorted',
      },
    ],
    killed_by: days('are asked by the day: of a key that is nowhere no hour of a finished one'),
  },
  {
    name: 'all files of a table streamed at once',
    edits: [
      {
        file: 'src/tables/parquet-merge.ts',
        find: 'if (sources.length > passes.at_once) return',
        replace: 'if (sources.length > 100 * passes.at_once) return',
      },
    ],
    killed_by: {
      file: 'test/contract/parquet-merge.test.ts',
      title: 'a stream of many files reads few at once, from temporary ones that go with it',
    },
  },
  {
    name: 'checkpoints read again with each look of collection',
    edits: [
      {
        file: 'src/compactor/reached.ts',
        find: 'checkpoints.get(checkpoint) ?? (await read(checkpoint))',
        replace: 'await read(checkpoint)',
      },
    ],
    killed_by: turn('collect-again', 'a second look reads no checkpoint again, and leaves what a first one leaves'),
  },
]
