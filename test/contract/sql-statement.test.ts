// What a statement may do: read the files of its views. Whatever else it tries is refused with a sentence, and has changed
// nothing; what takes too long or too much is stopped, and has shown nothing.

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { encodeRows } from '../../src/tables/parquet.js'
import { runStatement, type StatementAnswer, type StatementRequest } from '../../src/tables/sql/statement.js'
import { viewSql } from '../../src/tables/sql/view-sql.js'
import { createRandom } from '../fixtures/random.js'
import { collected, LIMITS, type SqlRow } from '../fixtures/sql.js'
import { randomRows } from './table-files.js'

const ONLY_SELECT = 'Only a SELECT can be run: tables change by events alone.'
const NOTHING_ELSE = 'A statement reads the tables of the workspace and nothing else on this machine or elsewhere'

let folder = ''
let path = ''
let sql = ''
let other = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servo-statement-'))
  path = join(folder, 'pools.parquet')
  other = join(folder, 'other.parquet')
  const rows = randomRows(createRandom('statement'), 'pools', 20, { row_version: () => 1, expires_at: () => null })
  const { bytes, min_key, max_key } = await encodeRows('pools', { tenant_id: 'acme', workspace_id: 'prod' }, rows)
  for (const file of [path, other]) writeFileSync(file, bytes)
  sql = viewSql('pools', [{ path, min_key, max_key, period: null }], undefined)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function ask(
  text: string,
  change: Partial<StatementRequest> = {},
): Promise<{ readonly answer: StatementAnswer; readonly rows: readonly SqlRow[] }> {
  const { result, rows } = collected()
  return { answer: await runStatement({ text, views: [{ name: 'pools', sql }], paths: [path], ...LIMITS, result, ...change }), rows }
}

const stateOfFolder = () =>
  readdirSync(folder)
    .sort()
    .map((name) => `${name} ${statSync(join(folder, name), { bigint: true }).mtimeNs} ${readFileSync(join(folder, name)).length}`)

describe('a statement that is no SELECT', () => {
  test.each([
    'insert into pools select * from pools',
    "update pools set pool_key = 'a'",
    'delete from pools',
    'merge into pools using pools p using (pool_key) when matched then delete',
    'truncate pools',
    'create table mine as select * from pools',
    'create view mine as select 1',
    'create macro mine() as 1',
    'create secret (type s3)',
    'drop view pools',
    'alter view pools rename to mine',
    "copy pools to 'FOLDER/pools.parquet'",
    "copy pools to 'FOLDER/mine.csv'",
    "copy (select 1) to 'FOLDER/mine.parquet'",
    "copy pools from 'FOLDER/other.parquet'",
    "export database 'FOLDER/mine'",
    "import database 'FOLDER/mine'",
    "attach 'FOLDER/mine.db'",
    'detach memory',
    'use memory',
    'install httpfs',
    'load httpfs',
    "load 'FOLDER/mine.duckdb_extension'",
    'update extensions',
    "set memory_limit = '64GB'",
    'set enable_external_access = true',
    'reset memory_limit',
    'set variable mine = 1',
    'pragma enable_profiling',
    "pragma memory_limit = '64GB'",
    'call pragma_version()',
    'call enable_logging()',
    'checkpoint',
    'vacuum',
    'analyze',
    'begin',
    'commit',
    'prepare mine as select 1',
    'execute mine',
    'explain select 1',
    "explain analyze copy (select 1) to 'FOLDER/mine.parquet'",
  ])('%s: is refused', async (text) => {
    const before = stateOfFolder()
    expect((await ask(text.replaceAll('FOLDER', folder))).answer).toEqual({ kind: 'not_understood', sentence: ONLY_SELECT })
    expect(stateOfFolder()).toEqual(before)
  })

  test('hides in no CTE, in no string and behind no bracket', async () => {
    const before = stateOfFolder()
    for (const text of [
      'with x as (delete from pools returning *) select * from x',
      `select * from query('copy pools to ''${folder}/mine.parquet''')`,
      `select 1) to '${folder}/mine.parquet'; copy (select 1`,
      `select '1''); copy pools to ''${folder}/mine.parquet''; --`,
    ]) {
      expect((await ask(text)).answer).toMatchObject({
        kind: 'not_understood',
        sentence: expect.stringMatching(/^Line 1, column \d+: |^A CTE needs a SELECT/),
      })
    }
    // What is a text stays one, in the copy too.
    const file = join(folder, 'quoted.parquet')
    const text = `select '''); copy pools to ''${folder}/mine.parquet''; --' as said -- and this`
    expect((await ask(text, { result: { path: file } })).answer).toEqual({ kind: 'done', row_count: 1 })
    await rm(file)
    expect(stateOfFolder()).toEqual(before)
  })

  test('is not one of several', async () => {
    expect((await ask('select 1; drop view pools')).answer).toEqual({ kind: 'not_understood', sentence: ONLY_SELECT })
    expect((await ask('select 1; select 2;')).answer).toEqual({
      kind: 'not_understood',
      sentence: 'These are 2 statements. Write one at a time.',
    })
    for (const nothing of ['', '  ;', '-- nothing']) {
      expect((await ask(nothing)).answer).toMatchObject({ sentence: expect.stringContaining('There is no statement. Write one') })
    }
    expect((await ask('select 1 as a ; ; -- and no more')).rows).toEqual([{ a: 1 }])
  })

  test('a PIVOT is one where it names its values', async () => {
    expect((await ask('pivot pools on pool_key using count(*)')).answer).toMatchObject({
      sentence: expect.stringContaining("ON column IN ('a', 'b')"),
    })
    expect((await ask("pivot (select pool_key, in_use from pools) on pool_key in ('a', 'b') using sum(in_use)")).answer).toMatchObject({
      kind: 'done',
    })
  })
})

describe('a statement that reads something else', () => {
  test.each([
    "select * from read_parquet('FOLDER/other.parquet')",
    "select * from 'FOLDER/other.parquet'",
    "select * from read_parquet('FOLDER/*.parquet')",
    "select * from parquet_metadata('FOLDER/other.parquet')",
    "select * from read_csv('/etc/passwd')",
    "select * from read_text('/etc/passwd')",
    "select * from read_blob('/etc/passwd')",
    "select * from read_json('/etc/passwd')",
    "select * from sniff_csv('/etc/passwd')",
    "select * from glob('/etc/*')",
    "select * from read_parquet('https://example.com/a.parquet')",
    "select * from read_csv('http://127.0.0.1:9/a.csv')",
    "select * from read_parquet('s3://bucket/a.parquet')",
    "select * from read_parquet('gs://bucket/a.parquet')",
    'select * from duckdb_secrets()',
    'select * from duckdb_extensions()',
    "select (select content from read_text('/etc/passwd')) as content from pools",
    "select * from query('select * from read_text(''/etc/passwd'')')",
  ])('%s: is refused', async (text) => {
    const { answer, rows } = await ask(text.replaceAll('FOLDER', folder))
    expect(answer).toMatchObject({ kind: 'not_understood', sentence: expect.stringContaining(NOTHING_ELSE) })
    expect(rows).toEqual([])
  })

  test("finds no environment, and no extension but DuckDB's own", async () => {
    expect((await ask("select getenv('HOME')")).answer).toMatchObject({ sentence: expect.stringContaining('getenv does not exist') })
    expect((await ask("select * from st_read('a.shp')")).answer).toMatchObject({
      kind: 'not_understood',
      sentence: expect.not.stringMatching(/INSTALL|LOAD/),
    })
  })
})

describe('an error of SQL is a sentence with its place', () => {
  test.each([
    ['selec 1', 'Line 1, column 1: Syntax error at or near "selec".'],
    [
      'select pool_key\nfrom pools\nwhere pol = 1',
      'Line 3, column 7: Referenced column "pol" not found in FROM clause. Candidate bindings: ',
    ],
    ["select 'äöü😀', nothing from pools", 'Line 1, column 16: Referenced column "nothing" not found'],
    ['select * from pool', 'Line 1, column 15: There is no table pool. Did you mean pools? There are: runs, tasks, '],
    ["select cast('a' as integer)", "Line 1, column 8: Could not convert string 'a' to INT32."],
    ['select pool_key::integer from pools', 'Line 1, column 16: Could not convert string '],
    ['select no_such(1)', 'Line 1, column 8: Scalar Function with name no_such does not exist.'],
    ["select error('said by itself')", 'Said by itself.'],
    ['select $1', 'The statement has parameters, which nobody gives. Write the values in it.'],
    ['select * from pools where pool_key = ?', 'The statement has parameters'],
  ])('%j', async (text, sentence) => {
    expect((await ask(text)).answer).toMatchObject({ kind: 'not_understood', sentence: expect.stringContaining(sentence) })
  })

  test('also where rows came before it: none of them is shown', async () => {
    const text = "select cast(case when range < 400000 then '1' else 'x' end as integer) as n from range(500000)"
    expect(await ask(text)).toMatchObject({ answer: { kind: 'not_understood', sentence: expect.stringContaining("string 'x'") }, rows: [] })
    const file = join(folder, 'half.parquet')
    expect((await ask(text, { result: { path: file } })).answer).toMatchObject({ kind: 'not_understood' })
    await rm(file, { force: true })
  })
})

describe('a statement is stopped', () => {
  test('when it takes too long, wherever it is', async () => {
    for (const text of [
      'select count(*) from range(1000000000000)',
      'select sum(a.range * b.range) from range(10000000) a, range(10000000) b',
    ]) {
      const { answer, rows } = await ask(text, { timeout_ms: 300 })
      expect(answer).toEqual({
        kind: 'stopped',
        sentence: 'The statement took longer than 0.3 s and was stopped. Ask for less, or give it more with --timeout.',
      })
      expect(rows).toEqual([])
    }
  })

  test('not before its time, however long that is', async () => {
    expect((await ask('select count(*) as n from range(100000000)', { timeout_ms: 1_000 * 3_600_000 })).rows).toEqual([{ n: 100_000_000 }])
  })

  test('when it needs too much memory, for its work or for its rows', async () => {
    const needs = [
      'select count(distinct hash(range)) from range(100000000)',
      "select range, repeat('x', 1000) as text from range(1000000) order by hash(range)",
      'select range, sha256(range::varchar) || sha256((range + 1)::varchar) as text from range(10000000)',
    ]
    const before = process.memoryUsage().rss
    for (const text of needs) {
      expect(await ask(text, { memory_limit_mb: 64 })).toMatchObject({
        answer: { kind: 'stopped', sentence: expect.stringContaining('needs more than the 64 MB that it may take. Ask for less, or give') },
        rows: [],
      })
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(256 * 1_024 ** 2)
  })
})

describe('a result', () => {
  test('has its rows in the order that was asked for, however many, and as many as were wanted', async () => {
    const text = 'select range as n, row_number() over (order by hash(range)) as place from range(100000) order by place'
    const { rows } = await ask(text)
    expect(rows.map(({ place }) => place)).toEqual(Array.from({ length: 100_000 }, (_, i) => i + 1))
    const few = collected(3)
    expect((await ask(text, { result: few.result })).answer).toEqual({ kind: 'done', row_count: 3 })
    expect(few.rows).toEqual(rows.slice(0, 3))
  })

  test('names every column, a name that comes twice too', async () => {
    expect((await ask('select 1 as a, 2 as a, 3')).rows).toEqual([{ a: 1, a_1: 2, '3': 3 }])
  })

  test('goes to a file that reads the same again', async () => {
    const file = join(folder, 'result.parquet')
    const text = 'select pool_key, in_use, updated_at from pools order by pool_key'
    expect((await ask(text, { result: { path: file } })).answer).toEqual({ kind: 'done', row_count: (await ask(text)).rows.length })
    const again = await ask('select * from mine', {
      views: [{ name: 'mine', sql: `SELECT * FROM read_parquet('${file}')` }],
      paths: [file],
    })
    expect(again.rows).toEqual((await ask(text)).rows)
    await rm(file)
  })

  test('shows instants in UTC, whatever zone the machine is in', async () => {
    expect(
      (await ask("select current_setting('TimeZone') as zone, date_trunc('day', timestamptz '2025-01-15T23:30:00Z') as day")).rows,
    ).toEqual([{ zone: 'UTC', day: '2025-01-15T00:00:00.000Z' }])
  })
})

test('a file that cannot be read is named with what to do', async () => {
  const torn = join(folder, 'torn.parquet')
  writeFileSync(torn, 'torn by a full disk')
  const views = [{ name: 'pools', sql: `SELECT * FROM read_parquet('${torn}')` }]
  await expect(ask('select * from pools', { views, paths: [torn] })).rejects.toMatchObject({
    kind: 'corrupt',
    message: expect.stringContaining('Run `servo ledger verify`.'),
  })
  await rm(torn)
})
