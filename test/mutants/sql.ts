// Guards of SQL over the tables: which rows a view has, and what a statement may reach.

import { type Check, type Mutant, turn } from './mutant.js'

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
        find: 'unit_ms: DAY_MS, holds_key_once: false',
        replace: 'unit_ms: DAY_MS, holds_key_once: true',
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
  {
    name: 'SQL without the late versions that fit no more',
    edits: [
      {
        file: 'src/tables/cold/files-at.ts',
        find: 'day === undefined || is_late === true || wanted',
        replace: 'day === undefined || wanted',
      },
    ],
    killed_by: turn('cold', 'is read as it is now: from above the base, from the base, and as a late one from another part'),
  },
  {
    name: 'SQL over every old file, whatever it asks',
    edits: [{ file: 'src/tables/cold/files-at.ts', find: '|| wanted.has(name))', replace: '|| wanted.size >= 0)' }],
    killed_by: turn('cold-files', 'seed 1: hold every row that fits'),
  },
  {
    name: 'SQL that takes one of two tables for all that it reads',
    edits: [{ file: 'src/tables/sql/asked.ts', find: '.length !== 1) return undefined', replace: '.length < 1) return undefined' }],
    killed_by: { file: 'test/contract/sql-asked.test.ts', title: 'the same table twice says nothing' },
  },
]
