// Guards of what copies a workspace and makes its tables anew: backup, restore, rebuild, and the fold versions side by side.

import { type Mutant, turn } from './mutant.js'

const RESTORE = 'src/compactor/backup/restore.ts'
const BACKUP = 'src/compactor/backup/backup.ts'
const REVISION_COPY = 'src/compactor/backup/revision-copy.ts'
const REBUILD = 'src/turn/rebuild.ts'
const REBUILT = 'src/compactor/rebuilt.ts'
const SWAP = 'src/compactor/swap.ts'

const REFUSED = 'are places that hold something else, and workspaces that have another history'
const BUSY = 'that is taken while everybody works has one revision and every event acknowledged before it began'
const MENDED = 'mends the rows that the ledger does not say, and a turn that held them holds the right ones'

export const COPIES: readonly Mutant[] = [
  {
    name: 'a restored segment folded by the time of its copy',
    edits: [{ file: 'src/ledger/origin.ts', find: '  return { ...head, ...origin }', replace: '  return head' }],
    killed_by: turn('backup', 'folds its tail as the original would have, however late, and takes no word twice'),
  },
  {
    name: 'a segment of a backup believed whatever time it claims',
    edits: [{ file: 'src/ledger/origin.ts', find: ' + CREATION_SKEW_MS_MAX) return head', replace: ' * 2) return head' }],
    killed_by: turn('backup', 'is believed up to the time at which it is there, and no word of it is more than a word'),
  },
  {
    name: 'a restore published before it was found to be good',
    edits: [{ file: RESTORE, find: '  if (verified.problems.length === 0) {', replace: '  if (verified.problems.length >= 0) {' }],
    killed_by: turn('backup', 'is a backup that was damaged: nothing is published, and what is wrong is named'),
  },
  {
    name: 'a restore into a place where something is',
    edits: [{ file: RESTORE, find: 'if (objects.length > 0) throw', replace: 'if (objects.length < 0) throw' }],
    killed_by: turn('backup', REFUSED),
  },
  {
    name: 'what lies in closed minutes of a backup looked for in the window of today',
    edits: [{ file: RESTORE, find: ', listing_window_ms, instantMs(taken_at))', replace: ', listing_window_ms)' }],
    killed_by: turn('backup', 'names to a turn what lies in minutes that were closed'),
  },
  {
    name: 'a backup onto the backups of another history',
    edits: [{ file: BACKUP, find: '  if (isSameChain) return', replace: '  if (isSameChain || !isAhead) return' }],
    killed_by: turn('backup', REFUSED),
  },
  {
    name: 'a backup with a page that its pointer does not know',
    edits: [{ file: REVISION_COPY, find: 'page >= page_count).length', replace: 'page < 0).length' }],
    killed_by: turn('backup', 'goes on with a newer revision where a page is packed that the pointer did not know'),
  },
  {
    name: 'a backup that lacks what vanished while it was taken',
    edits: [
      {
        file: BACKUP,
        find: '    if (tally.vanished > 0 || lack !== undefined) {',
        replace: '    if (tally.vanished < 0) {',
      },
    ],
    killed_by: turn('backup', 'goes on with a newer revision where a page is packed that the pointer did not know'),
  },
  {
    name: 'a backup with table files of the newest revision alone',
    edits: [
      { file: REVISION_COPY, find: 'await reachKept(source, pointer, what.kept_at)', replace: 'await reachKept(source, pointer, 1e15)' },
    ],
    killed_by: turn('backup', BUSY),
  },
  {
    name: 'turns where backups lie, or a restore has not ended',
    edits: [{ file: SWAP, find: '  await refuseCopy(store)\n', replace: '' }],
    killed_by: turn('backup', 'are turns and collections where a backup lies, or a restore has not ended'),
  },
  {
    name: 'a rebuild that others follow by its deltas',
    edits: [
      { file: 'src/turn/workspace.ts', find: '  if ((checkpoint.folded_since ?? 0) > held.sequence) return undefined\n', replace: '' },
    ],
    killed_by: turn('rebuild', MENDED),
  },
  {
    name: 'a rebuild over what it has not folded',
    edits: [{ file: REBUILD, find: 'refold.through(base.pointer)', replace: 'refold.mergeWhole()' }],
    killed_by: turn('rebuild', 'folds what is published while it publishes, and has it in its tables'),
  },
  {
    name: 'a rebuild published past its deadline',
    edits: [{ file: REBUILT, find: 'if (clock.elapsed() > abort_after)', replace: 'if (clock.elapsed() < 0)' }],
    killed_by: turn('rebuild', 'is not published past its deadline, when its files may be gone'),
  },
  {
    name: 'an older fold version that goes on beside a rebuild or a first turn',
    edits: [
      {
        file: SWAP,
        find: 'if (pointer.fold_version <= fold_version) return',
        replace: 'if (pointer.fold_version <= fold_version + 9) return',
      },
    ],
    killed_by: turn(
      'upgrade',
      'is not gone back from: turns, merges and rebuilds of the old version stop with a sentence, and change nothing',
    ),
  },
]
