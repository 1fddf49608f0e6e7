// Guards of what a process keeps: that it lets go of what nobody asks for any more, and never of what somebody reads.

import { type Mutant, turn } from './mutant.js'

export const KEPT: readonly Mutant[] = [
  {
    name: 'files kept that a merge has replaced',
    edits: [{ file: 'src/tables/replaced.ts', find: '  files.forget(replaced)\n', replace: '' }],
    killed_by: turn('replaced-files', 'is let go of by turns, readers and what folds for them, and nothing else is'),
  },
  {
    name: 'files let go of that stand',
    edits: [{ file: 'src/tables/replaced.ts', find: '.filter(({ name }) => !names.has(name))', replace: '' }],
    killed_by: turn('replaced-files', 'is let go of by turns, readers and what folds for them, and nothing else is'),
  },
  {
    name: 'filters kept that a merge has replaced',
    edits: [{ file: 'src/tables/replaced.ts', find: '  filters.forget(replaced', replace: '  void (replaced' }],
    killed_by: turn('replaced-files', 'leaves the filters too, and those that stand are not read again'),
  },
  {
    name: 'a file taken away from those who read it',
    edits: [
      {
        file: 'src/tables/groups/group-cache.ts',
        find: 'if (file.users === 0) discard(file)',
        replace: 'for (const kind of KINDS) for (const entry of [...file.entries[kind].values()]) dropEntry(entry)',
      },
    ],
    killed_by: {
      file: 'test/contract/parquet-groups.test.ts',
      title: 'leaves those who are reading a file that is let go of what they have of it, and nobody after them',
    },
  },
  {
    name: 'listed folders kept that nobody asks for',
    edits: [{ file: 'src/storage/local-list.ts', find: '  forgetUnused(cache, request.now_ms)\n', replace: '' }],
    killed_by: {
      file: 'test/contract/local-list.test.ts',
      title: 'a folder that nobody asked for within a minute is forgotten, and one that is asked for stays',
    },
  },
  {
    name: 'starts remembered by the number of turns alone',
    edits: [{ file: 'src/commands/starts.ts', find: '  if (known === undefined) forgetOldest(start_logs)\n', replace: '' }],
    killed_by: {
      file: 'test/properties/start-log.test.ts',
      title: 'is remembered with those asked for last, up to a number of claims, and read again where it was forgotten',
    },
  },
  {
    name: 'every question for few rows remembered',
    edits: [{ file: 'src/readers/reader.ts', find: 'const DERIVATIONS_MAX = 32', replace: 'const DERIVATIONS_MAX = 1_000_000' }],
    killed_by: {
      file: 'test/properties/few-rows.test.ts',
      title: 'few rows are remembered of the questions that came last, and of no more of them than it may',
    },
  },
  {
    name: 'rows tested that are too many by what files say',
    edits: [
      {
        file: 'src/tables/parquet-files.ts',
        find: '      if (rowsToTest(table, asked, scan) > tested_rows_max) return queried(table, asked, scan)\n',
        replace: '',
      },
    ],
    killed_by: {
      file: 'test/contract/parquet-query.test.ts',
      title: 'asks DuckDB at once where files say that too many rows would be tested',
    },
  },
  {
    name: 'rows to test counted without what conditions leave of them',
    edits: [{ file: 'src/tables/rows-to-test.ts', find: 'file.rows * fittingShare(file, where)', replace: 'file.rows' }],
    killed_by: { file: 'src/tables/rows-to-test.test.ts', title: 'all, where too few fit to fill the page' },
  },
]
