// Guards of the replay: every row and column is compared, and the rows that it keeps for itself are those that it folded.

import { type Mutant, turn } from './mutant.js'

const COMPARE = 'src/compactor/compare.ts'
const REPLAY = 'src/turn/replay.ts'
const THROUGH = 'src/turn/through-newest.ts'
const SINCE = 'src/turn/replay-since.ts'
const DONE = 'src/turn/replayed/done-rows.ts'
const INDEX = 'src/turn/replayed/key-index.ts'
const MERGED = 'src/core/merged-runs.ts'

const NAMES = 'names the row and the column that differs, whichever it is'
const ONE_SIDE = 'names rows that one side alone has'
const EQUAL = 'finds nothing where all is as it was folded, and leaves no file'
const IN_ORDER = 'are found by key and told in order, the newest of each, like a map of them'
const COLLISION = 'of two keys with one digest are told apart'

export const REPLAY_MUTANTS: readonly Mutant[] = [
  {
    name: 'a comparison that leaves the last column out',
    edits: [{ file: COMPARE, find: 'for (const name of names) if (', replace: 'for (const name of names.slice(0, -1)) if (' }],
    killed_by: turn('replay', NAMES),
  },
  {
    name: 'a comparison that leaves out what the replay alone has',
    edits: [{ file: COMPARE, find: 'if (a === undefined && b === undefined) break', replace: 'if (a === undefined) break' }],
    killed_by: turn('replay', ONE_SIDE),
  },
  {
    name: 'a comparison that ends with the replayed rows',
    edits: [{ file: COMPARE, find: 'if (a === undefined && b === undefined) break', replace: 'if (b === undefined) break' }],
    killed_by: turn('replay', ONE_SIDE),
  },
  {
    name: 'a replay that forgets the rows that are hot',
    edits: [{ file: REPLAY, find: '...rowsByKey(table, rows.hotRows(table))', replace: '...rowsByKey(table, [])' }],
    killed_by: turn('replay', EQUAL),
  },
  {
    name: 'a replay that lets rows go which did not change in the end',
    edits: [
      {
        file: 'src/projections/working-set.ts',
        find: 'touchedRows(({ isHot }) => !isHot)',
        replace: 'touchedRows(({ isHot, isDirty }) => isDirty && !isHot)',
      },
    ],
    killed_by: {
      file: 'src/projections/working-set.test.ts',
      title: 'are those that are not hot any more, changed since the last settle or not',
    },
  },
  {
    name: 'of equal keys the oldest row of a replay',
    edits: [{ file: MERGED, find: 'left.age > right.age', replace: 'left.age < right.age' }],
    killed_by: turn('done-rows', IN_ORDER),
  },
  {
    name: 'replaced rows of a replay told twice',
    edits: [{ file: MERGED, find: ', thing) !== 0) break', replace: ', thing) !== 0.5) break' }],
    killed_by: turn('done-rows', IN_ORDER),
  },
  {
    name: 'what lies where a digest leads taken for the row of the key',
    edits: [{ file: DONE, find: 'if (keyTextOfRow(table, row) === text) newest', replace: 'if (keyTextOfRow(table, row) !== "") newest' }],
    killed_by: turn('done-rows', COLLISION),
  },
  {
    name: 'a look-up that stops at the first place that a digest leads to',
    edits: [{ file: INDEX, find: 'else found.push(places[slot] as number)', replace: 'else break' }],
    killed_by: turn('done-rows', COLLISION),
  },
  {
    name: 'a row forgotten that replaces one whose entry is gone',
    edits: [{ file: DONE, find: ' || !index.move(table, text, older, place)) index', replace: ') index' }],
    killed_by: turn('done-rows', 'that replace an expired row are found, though its entry is gone'),
  },
  {
    name: 'entries of expired rows kept for ever',
    edits: [{ file: INDEX, find: ' && !isDropped(full.places[slot] as number)', replace: '' }],
    killed_by: turn('done-rows', 'that have expired make room in the index, and others stay'),
  },
  {
    name: 'entries dropped with a run of which one row has not expired',
    edits: [{ file: DONE, find: 'if (at > last) last = at', replace: 'if (at < last || last < 0) last = at' }],
    killed_by: turn('done-rows', 'that expire stay until all of their run has'),
  },
  {
    name: 'a long fold compared with what it began with',
    edits: [{ file: THROUGH, find: '    if (isShort || next', replace: '    if (isShort || round > 0 || next' }],
    killed_by: turn('long-replay', 'a replay goes on to what is newest, and compares with that'),
  },
  {
    name: 'a history that was put back folded on to',
    edits: [{ file: 'src/compactor/chain.ts', find: '  if (after !== undefined) refuseOtherChain(store, pointer, after)\n', replace: '' }],
    killed_by: turn('long-replay', 'no fold goes on from a history that was put back'),
  },
  {
    name: 'a replay from a checkpoint compared with tables that go on from another one',
    edits: [
      { file: SINCE, find: 'snapshot.checkpoint.folded_since !== checkpoint.folded_since', replace: 'snapshot.revision.sequence < 0' },
    ],
    killed_by: turn('long-replay', 'a replay from a checkpoint says that the tables were made anew'),
  },
]
