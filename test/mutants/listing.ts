// Guards of what a turn lists: that nothing acknowledged lies before it, and that nothing is closed which was not listed.

import { type Check, type Mutant, turn } from './mutant.js'

const LISTED_AFTER = 'src/tables/listed-after.ts'
const OVERLAY = 'src/tables/overlay.ts'
const overlay = (title: string): Check => ({ file: 'src/tables/overlay.test.ts', title })
const PASS = 'src/turn/pass.ts'
const TURN = 'src/turn/turn.ts'

export const LISTING: readonly Mutant[] = [
  {
    name: 'all open minutes listed by a clock that stands while its process is suspended',
    edits: [{ file: TURN, find: 'Math.max(elapsed - whole.listed_at, server_time - whole.at)', replace: '(elapsed - whole.listed_at)' }],
    killed_by: turn('listing', 'lists all open minutes again in a process that was suspended, whose own clock counted nothing'),
  },
  {
    name: 'listing that takes what was created for what can be seen',
    edits: [{ file: LISTED_AFTER, find: ' - WRITE_MS_MAX', replace: '' }],
    killed_by: {
      file: 'src/tables/listed-after.test.ts',
      title: 'begins before every minute in which something may lie that could not be seen at the processed mark, and was acknowledged',
    },
  },
  {
    name: 'minutes closed only by turns that list them and publish',
    edits: [{ file: PASS, find: ': remembered.whole_at', replace: ': 0' }],
    killed_by: turn('listing', 'closes what an earlier one has listed, where those that list all open minutes publish nothing'),
  },
  {
    name: 'a revision published under a time from before what it has folded',
    edits: [{ file: TURN, find: 'Math.max(storeTime(deps, pass), pass.pending.fold_time)', replace: 'storeTime(deps, pass)' }],
    killed_by: {
      file: 'test/turn/missed.test.ts',
      title: 'takes nothing for missed that a process folded whose machine was suspended during the turn',
    },
  },
  {
    name: 'T0 claimed with something older behind what is unread',
    edits: [
      {
        file: PASS,
        find: 'Math.min(oldest, stampMs(creation_time))',
        replace: 'Math.min(oldest, stampMs(pass.queue[0]?.creation_time ?? creation_time))',
      },
    ],
    killed_by: {
      file: 'src/turn/pass.test.ts',
      title: 'claims nothing that is younger than the oldest of what is unread, wherever in the queue it is',
    },
  },
  {
    name: 'older row of a key shown on a page beside the newer',
    edits: [
      {
        file: OVERLAY,
        find: 'overlayRowOf(layers, keyTextOfRow(table, row)) === row',
        replace: 'overlayRowOf(layers, keyTextOfRow(table, row)) !== undefined',
      },
    ],
    killed_by: overlay('of a key that several layers have the row of the last one is the newest'),
  },
  {
    name: 'of two rows of a key both kept in order when layers grow into one',
    edits: [
      { file: OVERLAY, find: 'compareKeys(same.key, above.key) === 0) at += 1', replace: 'compareKeys(same.key, above.key) > 0) at += 1' },
    ],
    killed_by: overlay('rows come in key order, each once, and layers that grow into one are not sorted again'),
  },
  {
    name: 'a wait of pokes for each signal that comes between',
    edits: [{ file: 'src/activities/poke.ts', find: '    if (isWaiting) return\n', replace: '' }],
    killed_by: { file: 'src/activities/poke.test.ts', title: 'wait once, however often one that is wanted now comes between' },
  },
  {
    name: 'listing from the processed mark, as if all were named when they are created',
    edits: [{ file: LISTED_AFTER, find: 'created_from - CREATION_SKEW_MS_MAX', replace: 'created_from' }],
    killed_by: turn('listing', 'finds what was named long before it was created and is acknowledged all the same'),
  },
  {
    name: 'fresh reader listing from the processed mark',
    edits: [{ file: LISTED_AFTER, find: 'created_from - CREATION_SKEW_MS_MAX', replace: 'created_from' }],
    killed_by: turn('fresh', 'sees what was named long before it was created'),
  },
  {
    name: 'every turn listing all open minutes',
    edits: [{ file: TURN, find: "server_time) ? 'recent' : 'whole'", replace: "server_time) ? 'whole' : 'whole'" }],
    killed_by: turn(
      'listing',
      'leaves what nobody acknowledged, and may lie anywhere, to the one that lists all open minutes ten seconds later',
    ),
  },
  {
    name: 'no turn listing all open minutes but the first',
    edits: [{ file: TURN, find: '< WHOLE_LISTING_EVERY_MS', replace: '< WHOLE_LISTING_EVERY_MS * 1e9' }],
    killed_by: turn(
      'listing',
      'leaves what nobody acknowledged, and may lie anywhere, to the one that lists all open minutes ten seconds later',
    ),
  },
  {
    name: 'minute closed by a turn that has not listed it',
    edits: [{ file: PASS, find: 'pass.whole_at - CLOSED_MINUTE_SLACK_MS', replace: 'pass.now - CLOSED_MINUTE_SLACK_MS' }],
    killed_by: turn('listing', 'closes no minute that it has not listed, so that what lies there is found by the next one'),
  },
  {
    name: 'what a turn has left taken for listed and folded',
    edits: [{ file: TURN, find: '  if (queue.length > 0) return undefined\n', replace: '' }],
    killed_by: turn('listing', 'lists all open minutes again where the one before it left something'),
  },
]
