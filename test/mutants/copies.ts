// Guards of what copies a workspace and makes its tables anew: backup, restore, rebuild, and the fold versions side by side.

import { type Mutant, turn } from './mutant.js'

const RESTORE = 'src/compactor/backup/restore.ts'
const VIEW = 'src/compactor/backup/view.ts'
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
    killed_by: turn('backup', 'is a backup of a workspace that was damaged: nothing is published, and what is wrong is named'),
  },
  {
    name: 'a restore into a place where something is',
    edits: [{ file: RESTORE, find: 'if (objects.length > 0) throw', replace: 'if (objects.length < 0) throw' }],
    killed_by: turn('backup', REFUSED),
  },
  {
    name: 'what lies in closed minutes of a backup looked for in the window of today',
    edits: [
      {
        file: 'src/compactor/window.ts',
        find: 'Math.min(windowStart(first.server_time, listing_window_ms), restoredWindow)',
        replace: 'windowStart(first.server_time, listing_window_ms)',
      },
    ],
    killed_by: turn('backup', 'names to a turn what lies in minutes that were closed'),
  },
  {
    name: 'what lies in closed minutes of a backup looked for once',
    edits: [
      {
        file: 'src/compactor/window.ts',
        find: '    if (missed.length === 0) restoredWindow = Number.POSITIVE_INFINITY',
        replace: '    restoredWindow = Number.POSITIVE_INFINITY',
      },
    ],
    killed_by: turn('backup', 'names to a turn what lies in minutes that were closed'),
  },
  {
    name: 'a backup onto the backups of another workspace',
    edits: [
      { file: BACKUP, find: '  if (theirs.first_revision === first_revision) return', replace: '  if (theirs.workspace_id !== "") return' },
    ],
    killed_by: turn('backup-branches', 'is a second workspace in the place, even where no backup of the first one was finished'),
  },
  {
    name: 'a restore of all that lies in the place',
    edits: [
      {
        file: VIEW,
        find: 'const objects = (await page(prefix, start_after)).map((object) => headOf(object, taken_at))',
        replace: 'const { objects } = await store.list(prefix, start_after)',
      },
    ],
    killed_by: turn('backup-branches', 'has no word of what was given up, though it lies in the same place'),
  },
  {
    name: 'an object of a backup that is not the one that was recorded',
    edits: [{ file: VIEW, find: '  if (isSameObject(found, object)) return', replace: '  if (object.size >= 0) return' }],
    killed_by: turn('backup-branches', 'are objects of the place that are not those that were recorded'),
  },
  {
    name: 'what has the name of something else in the place taken for it',
    edits: [
      {
        file: 'src/compactor/backup/copy.ts',
        find: 'present === undefined ? wanted : { ...wanted, is_beside: true }',
        replace: 'present === undefined ? wanted : wanted',
      },
    ],
    killed_by: turn('backup-branches', 'lies beside what has the same names, and every one of them is restored bit for bit'),
  },
  {
    name: 'the newest backup restored, though its workspace was given up',
    edits: [{ file: RESTORE, find: "(newest.branch?.id ?? '') === begun_last", replace: "(newest.branch?.id ?? '') <= begun_last" }],
    killed_by: turn('backup-branches', 'is a restore without a name, where a workspace was backed up after it was given up'),
  },
  {
    name: 'a list of contents that goes on behind another section',
    edits: [
      {
        file: 'src/compactor/backup/contents.ts',
        find: 'if (found.filter(({ name }) => name < list.first).length >= PAGE_SIZE) break',
        replace: 'if (found.length >= PAGE_SIZE) break',
      },
    ],
    killed_by: turn(
      'backup-contents',
      'lists have every object once, in order, by page and by name, and share what two backups have in common',
    ),
  },
  {
    name: 'a backup with a page that its pointer does not know',
    edits: [{ file: REVISION_COPY, find: 'page >= page_count).map', replace: 'page < 0).map' }],
    killed_by: turn('backup', 'goes on with a newer revision where a page is packed that the pointer did not know'),
  },
  {
    name: 'a backup that lacks what vanished while it was taken',
    edits: [
      {
        file: BACKUP,
        find: '    if (lack !== undefined) {',
        replace: '    if (lack === backup) {',
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
