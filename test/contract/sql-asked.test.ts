// What a statement asks of old rows, found in its syntax: plainly said, or nothing at all.

import { expect, test } from '@jest/globals'
import { askedOf } from '../../src/tables/sql/statement.js'

const DAY = Date.parse('2026-01-05T00:00:00Z')
const key = { column: 'run_id', is: '=', value: 'run_a' }

test.each([
  ["select * from runs where run_id = 'run_a'", [key]],
  [
    "select count(*) from RUNS r where r.RUN_ID = 'run_a' and state = 'SUCCEEDED' limit 3",
    [key, { column: 'state', is: '=', value: 'SUCCEEDED' }],
  ],
  ["select state, count(*) from runs where requested_at >= '2026-01-05' group by 1", [{ column: 'requested_at', is: '>=', value: DAY }]],
  [
    "select * from runs where requested_at > timestamptz '2026-01-05 00:00:00.000Z' and requested_at < '2026-01-05T00:00:01+00'",
    [
      { column: 'requested_at', is: '>', value: DAY },
      { column: 'requested_at', is: '<', value: DAY + 1_000 },
    ],
  ],
  [
    "select * from runs where (run_id = 'run_a' and (state <> 'X' and requested_at <= '2026-01-05'))",
    [key, { column: 'requested_at', is: '<=', value: DAY }],
  ],
])('%s', async (text, where) => {
  expect(await askedOf(text)).toEqual({ table: 'runs', where })
})

test.each([
  ['either of two', "select * from runs where run_id = 'run_a' or state = 'X'"],
  ['not', "select * from runs where not run_id = 'run_a'"],
  ['another order than that of bytes', "select * from runs where run_id > 'run_a'"],
  ['a moment elsewhere', "select * from runs where requested_at > '2026-01-05 00:00:00+02'"],
  ['a day that is cut off a moment', "select * from runs where requested_at > date '2026-01-05'"],
  ['an expression', "select * from runs where lower(run_id) = 'run_a'"],
  ['a name that may be another', "select lower(run_id) as run_id from runs where run_id = 'run_a'"],
  ['no column', "select * from runs where id = 'run_a'"],
  ['nothing', 'select * from runs'],
])('%s is no condition', async (_name, text) => {
  expect(await askedOf(text)).toEqual({ table: 'runs', where: [] })
})

test.each([
  ['a join', "select * from runs join tasks using (run_id) where run_id = 'run_a'"],
  ['the same table twice', "select * from runs where run_id = 'run_a' and state in (select state from runs)"],
  ['a table by name', "select *, (select count(*) from query_table('runs')) from runs where run_id = 'run_a'"],
  ['a text that is run', "select *, (select count(*) from query('from runs')) from runs where run_id = 'run_a'"],
  ['a union', "select * from runs where run_id = 'run_a' union all select * from runs"],
  ['a common table', "with r as (select * from runs) select * from r where run_id = 'run_a'"],
  ['a sample', "select * from runs tablesample 10 rows where run_id = 'run_a'"],
  ['other names', "select * from runs as r(run_id, tenant_id) where run_id = 'run_a'"],
  ['a table that is none', "select * from nothing where run_id = 'run_a'"],
  ['no statement', 'select * fro runs'],
  ['two statements', "select * from runs where run_id = 'run_a'; select * from runs"],
  ['no SELECT', 'delete from runs'],
])('%s says nothing', async (_name, text) => {
  expect(await askedOf(text)).toBeUndefined()
})
