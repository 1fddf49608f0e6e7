// Guards of fresh reads that fold by themselves, and of the memory that follows.

import { type Mutant, turn } from './mutant.js'

const TAIL = 'src/turn/fresh-tail.ts'
const WORKSPACE = 'src/turn/workspace.ts'

const same = { file: 'test/properties/fresh.test.ts', title: 'is what the turn publishes of the same segments, seed 8100' }
const fresh = (title: string) => turn('fresh', title)
const follow = (title: string) => turn('follow', title)

export const FRESH: readonly Mutant[] = [
  {
    name: 'fresh reader folding in the order of its listings',
    edits: [
      { file: TAIL, find: 'if (last === undefined || first === undefined || isBefore(last, first)) return queue', replace: 'return queue' },
    ],
    killed_by: fresh('folds in the order of the turn what a listing did not show at first'),
  },
  {
    name: 'fresh reader keeping its fold when the revision changes',
    edits: [{ file: TAIL, find: '    standing.rows.discard()\n    standing = await', replace: '    standing = await' }],
    killed_by: same,
  },
  {
    name: 'preview with the fold time of its revision',
    edits: [{ file: 'src/tables/snapshot.ts', find: 'retention, fold_time: instantText(fold_time) }', replace: 'retention }' }],
    killed_by: same,
  },
  {
    name: 'fresh reader folding a tail of any size',
    edits: [{ file: TAIL, find: 'countEvents(unfolded) <= FRESH_FOLD_EVENTS_MAX && ', replace: '' }],
    killed_by: fresh('waits for the publish where the tail is more events than are worth it, and says that it did not come'),
  },
  {
    name: 'fresh reader that never looks whether its rows are right',
    edits: [{ file: TAIL, find: '>= HOT_STATE_CHECK_INTERVAL_MS) await', replace: '< 0) await' }],
    killed_by: fresh('compares its rows with a fresh load every hour, and gives them up where they differ'),
  },
  {
    name: 'following that fails without a word',
    edits: [{ file: 'src/turn/keep-following.ts', find: '!isFailing && !closed.aborted', replace: 'isFailing && closed.aborted' }],
    killed_by: follow('says that it fails once, and that it works again'),
  },
  {
    name: 'following that says with each look that it fails',
    edits: [{ file: 'src/turn/keep-following.ts', find: 'if (!isFailing && ', replace: 'if (' }],
    killed_by: follow('says that it fails once, and that it works again'),
  },
  {
    name: 'fresh reader folding a tail of any age',
    edits: [{ file: TAIL, find: ' && deps.now() - oldest <= FRESH_FOLD_AGE_MS_MAX', replace: ' && oldest > 0' }],
    killed_by: fresh('waits for the publish where the tail is older than a minute, and says that it did not come'),
  },
  {
    name: 'fresh reader folding for another version',
    edits: [{ file: TAIL, find: 'if (snapshot.revision.fold_version !== FOLD_VERSION) return false', replace: '' }],
    killed_by: fresh('waits for the publish where the tail is of another version of the fold, and says that it did not come'),
  },
  {
    name: 'fresh reader folding for as long as it takes',
    edits: [{ file: TAIL, find: '        if (isTimeUp()) return undefined\n        folded', replace: '        folded' }],
    killed_by: fresh('folds no further than its time, and the next one goes on from there'),
  },
  {
    name: 'whole tables remembered from before the preview',
    edits: [{ file: 'src/readers/reader.ts', find: '? [unpublished.id] : []', replace: '? [] : []' }],
    killed_by: fresh('makes anew what is made of whole tables, where the preview changes one of them'),
  },
  {
    name: 'answer shared with who asked after it began',
    edits: [
      {
        file: 'src/readers/shared.ts',
        find: '    next ??= asking\n',
        replace: '    if (next === undefined) return asking\n    next ??= asking\n',
      },
    ],
    killed_by: fresh('shares no look that began before the question'),
  },
  {
    name: 'follower skipping what a merge took in',
    edits: [{ file: WORKSPACE, find: '? [...merged, ...newer] : undefined', replace: '? newer : undefined' }],
    killed_by: follow('has what a load would give it, seed 8200'),
  },
  {
    name: 'follower loading afresh after each merge',
    edits: [
      {
        file: WORKSPACE,
        find: 'lowest.previous === null || lowest.sequence',
        replace: 'lowest.previous !== held.revision || lowest.sequence',
      },
    ],
    killed_by: follow('reads what changed since, and the base no more, also where a merge has taken it in'),
  },
  {
    name: 'follower ending where files were collected',
    edits: [{ file: WORKSPACE, find: "if (isOperatingError(error, 'missing')) return undefined", replace: '' }],
    killed_by: follow('that was away for longer than revisions are kept loads afresh'),
  },
  {
    name: 'follower that looks as often where nothing happens',
    edits: [{ file: 'src/turn/keep-following.ts', find: 'Math.min(2 * wait_ms, FOLLOW_IDLE_MS_MAX)', replace: 'FOLLOW_MS' }],
    killed_by: follow('looks seldom where nothing happens, and soon where something does'),
  },
]
