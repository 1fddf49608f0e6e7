// Guards of self-repair: that nothing is taken for stuck which is not, and that nothing stuck is overlooked.

import type { Check, Mutant } from './mutant.js'

const repair = (file: string, title: string): Check => ({ file: `test/repair/${file}.test.ts`, title })

export const REPAIR: readonly Mutant[] = [
  {
    name: 'late segments forgotten where collection fails',
    edits: [
      { file: 'src/activities/maintenance.ts', find: 'over.aborted || missed.length === 0', replace: 'over.aborted || missed.length >= 0' },
    ],
    killed_by: {
      file: 'test/turn/maintenance.test.ts',
      title: 'late segments are told though collection fails behind them, over a folder with a damaged checkpoint',
    },
  },
  {
    name: 'a loop of a workspace that is replayed in full, however long it is',
    edits: [
      {
        file: 'src/workflows/workspace.ts',
        find: 'report?.settings?.turns_max ?? turns_max',
        replace: 'turns_max',
      },
    ],
    killed_by: { file: 'test/replay/replay.test.ts', title: 'all of them are replayed by the workflows as they are now' },
  },
  {
    name: 'a turn taken for late because of what an earlier one has looked at',
    edits: [{ file: 'src/controllers/hold.ts', find: 'Math.max(wake_at, first)', replace: 'Math.min(wake_at, first)' }],
    killed_by: repair(
      'dispatch',
      'an attempt that falls silent while a retry waits for room is given up in time: what was due before it has been looked at',
    ),
  },
  {
    name: 'an outage that begins right after a publish taken for none',
    edits: [
      { file: 'src/turn/outage.ts', find: 'server_time - outage_ms + SECOND_MS', replace: 'server_time - outage_ms + 0 * SECOND_MS' },
    ],
    killed_by: repair('ledger', 'what waits while the store is out of reach is no lost poke, and what was due meanwhile no missed timer'),
  },
  {
    name: 'what waits behind other work counted as a lost poke',
    edits: [{ file: 'src/turn/mended.ts', find: 'stood_ms <= TURN_GAP_MS_MAX', replace: 'stood_ms < 0 * TURN_GAP_MS_MAX' }],
    killed_by: repair('ledger', 'what waits behind a turn that takes long is no lost poke'),
  },
  {
    name: 'what follows from news counted as left over',
    edits: [
      { file: 'src/turn/mended.ts', find: 'pass.pending.segments.length === 0 && ', replace: 'pass.pending.segments.length >= 0 && ' },
    ],
    killed_by: repair('ledger', 'a lost poke goes on: the next turn folds what was appended, whatever brought it'),
  },
  {
    name: 'deadlines that passed without a turn counted only where nothing is new',
    edits: [{ file: 'src/controllers/lost.ts', find: ', holds_after_folds: true', replace: '' }],
    killed_by: repair(
      'worker',
      'the grace of a cancel that passed without a turn counts also where the turn that comes late has news to fold',
    ),
  },
  {
    name: 'attempts that waited for room counted as sent again',
    edits: [
      { file: 'src/activities/seen-answers.ts', find: 'waited_for_room: before === true', replace: 'waited_for_room: before === null' },
    ],
    killed_by: repair(
      'healthy',
      'a worker whose slots are full counts no repair: what it has no room for is handed over once it has, and to nobody twice',
    ),
  },
  {
    name: 'attempts whose answer was lost taken for some that waited for room',
    edits: [{ file: 'src/activities/seen-answers.ts', find: ' && before !== false', replace: '' }],
    killed_by: repair('hand-over', 'an attempt whose answer was lost counts once it is taken, also where its worker was full in between'),
  },
  {
    name: 'rows of the base shown beside those that replace them',
    edits: [
      {
        file: 'src/readers/reader.ts',
        find: 'below.filter((row) => !above.has(keyTextOfRow(table, row)))',
        replace: 'below.filter((row) => above.size >= 0 || keyTextOfRow(table, row) !== "")',
      },
    ],
    killed_by: {
      file: 'test/properties/few-rows.test.ts',
      title: 'seed 11: few rows are those that a page shows, in the newest view and in one that is held',
    },
  },
]
