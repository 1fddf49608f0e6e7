// Guards of what a turn lists: that nothing acknowledged lies before it, and that nothing is closed which was not listed.

import { type Mutant, turn } from './mutant.js'

const TURN = 'src/turn/turn.ts'

export const LISTING: readonly Mutant[] = [
  {
    name: 'listing from the processed mark, as if all were named when they are created',
    edits: [{ file: 'src/tables/listed-after.ts', find: ' - CREATION_SKEW_MS_MAX', replace: '' }],
    killed_by: turn('listing', 'finds what was named long before it was created and is acknowledged all the same'),
  },
  {
    name: 'fresh reader listing from the processed mark',
    edits: [{ file: 'src/tables/listed-after.ts', find: ' - CREATION_SKEW_MS_MAX', replace: '' }],
    killed_by: turn('fresh', 'sees what was named long before it was created'),
  },
  {
    name: 'every turn listing all open minutes',
    edits: [{ file: TURN, find: "isWhole ? 'whole' : 'recent'", replace: "isWhole ? 'whole' : 'whole'" }],
    killed_by: turn(
      'listing',
      'leaves what nobody acknowledged, and may lie anywhere, to the one that lists all open minutes ten seconds later',
    ),
  },
  {
    name: 'no turn listing all open minutes but the first',
    edits: [{ file: TURN, find: '>= WHOLE_LISTING_EVERY_MS', replace: '>= WHOLE_LISTING_EVERY_MS * 1e9' }],
    killed_by: turn(
      'listing',
      'leaves what nobody acknowledged, and may lie anywhere, to the one that lists all open minutes ten seconds later',
    ),
  },
  {
    name: 'minute closed by a turn that has not listed it',
    edits: [{ file: 'src/turn/pass.ts', find: "  if (pass.listing === 'recent') return pass.closed_through\n", replace: '' }],
    killed_by: turn('listing', 'closes no minute that it has not listed, so that what lies there is found by the next one'),
  },
  {
    name: 'what a turn has left taken for listed and folded',
    edits: [{ file: TURN, find: 'pass.queue.length === 0 ? pass.started : Number.NEGATIVE_INFINITY', replace: 'pass.started' }],
    killed_by: turn('listing', 'lists all open minutes again where the one before it left something'),
  },
]
