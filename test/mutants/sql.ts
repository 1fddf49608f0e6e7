// Guards of SQL over the tables: which rows a view has, and what a statement may reach.

import type { Check, Mutant } from './mutant.js'

const VIEW = 'src/tables/sql/view-sql.ts'
const view = (title: string): Check => ({ file: 'test/properties/sql-view.test.ts', title })
const statement = (title: string): Check => ({ file: 'test/contract/sql-statement.test.ts', title })

export const SQL: readonly Mutant[] = [
  {
    name: 'SQL over every version of a key',
    edits: [{ file: VIEW, find: '${readFiles(together)} ${newest}', replace: '${readFiles(together)}${newest.slice(newest.length)}' }],
    killed_by: view('of partition_status has the newest version of each key that has not expired'),
  },
  {
    name: 'SQL in which an older version outlives an expired one',
    edits: [
      {
        file: VIEW,
        find: '${readFiles(together)} ${newest}',
        replace:
          '${readFiles(together)}${cut === undefined ? "" : ` WHERE "${cut.column}" >= TIMESTAMPTZ \'${instantText(cut.at)}\'`} ${newest}',
      },
    ],
    killed_by: view('of run_key_index has the newest version of each key that has not expired'),
  },
  {
    name: 'SQL over what has expired',
    edits: [{ file: VIEW, find: "const live = cut === undefined ? ''", replace: "const live = cut !== null ? ''" }],
    killed_by: view('of run_key_index has the newest version of each key that has not expired'),
  },
  {
    name: 'SQL over refusals of each day by itself',
    edits: [
      {
        file: 'src/projections/outcome-table.ts',
        find: "keep_for: 'refusals_days', holds_key_once: false",
        replace: "keep_for: 'refusals_days', holds_key_once: true",
      },
    ],
    killed_by: view('of refusals compares versions of all periods: what was refused may come again on another day'),
  },
  {
    name: 'SQL that reads any file',
    edits: [{ file: 'src/tables/sql/statement.ts', find: "    'SET GLOBAL enable_external_access = false',\n", replace: '' }],
    killed_by: statement("select * from read_text('/etc/passwd'): is refused"),
  },
  {
    name: 'SQL without the revision above the base',
    edits: [
      {
        file: 'src/tables/snapshot.ts',
        find: '  ...snapshot.deltas.flatMap((delta) => freshParts(delta, table)),\n',
        replace: '',
      },
    ],
    killed_by: { file: 'test/contract/sql.test.ts', title: 'has the rows of the reader, of every table at one revision after another' },
  },
]
