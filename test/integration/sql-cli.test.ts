// `servo sql` as somebody types it, on a folder: what it prints for people and for programs, the file that it writes, its
// exit codes. The same on a bucket: ledger-cli-gcs.test.ts; what a statement may do: test/contract/sql-statement.test.ts.

import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { TABLE_NAMES } from '../../src/projections/tables.js'
import { TENANT_ID } from '../fixtures/say.js'
import type { Finished } from '../fixtures/servo-process.js'
import { type ServoShell, startServoShell } from '../fixtures/servo-shell.js'
import { STEADY_EVENTS_PER_RUN } from '../fixtures/steady-runs.js'
import { deployLines, STORY_SCOPE, storyLines } from '../fixtures/story-file.js'
import { ROOT } from '../tidy/tree.js'

const TIMEOUT_MS = 120_000
const NAMES = ['one', 'two', 'three']

let folder = ''
let shell: ServoShell
let place: readonly string[] = []
const sql = (...args: readonly string[]): Promise<Finished> => shell.run(['sql', ...place, ...args])

function jsonOf(finished: Finished): unknown {
  expect({ code: finished.code, stderr: finished.stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(finished.stdout)
}

/** A run a revision, the first two merged. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servo-sql-cli-'))
  place = ['--store', `local:${join(folder, 'store')}`, ...STORY_SCOPE]
  // Far from UTC, so that nothing goes by the zone of the machine.
  shell = startServoShell({ TZ: 'America/New_York' })
  const file = join(folder, 'lines.ndjson')
  for (const name of NAMES) {
    await writeFile(file, `${name === 'one' ? deployLines() : ''}${storyLines({ events: STEADY_EVENTS_PER_RUN, name })}`)
    expect(await shell.run(['ledger', 'append', '--file', file, ...place])).toMatchObject({ code: 0 })
    expect(await shell.run(['ledger', 'compact', ...(name === 'two' ? ['--merge'] : []), ...place])).toMatchObject({ code: 0 })
  }
}, TIMEOUT_MS)
afterAll(async () => {
  await shell.close()
  await rm(folder, { recursive: true, force: true })
})

test(
  'prints a table for people, with the revision that it is of',
  async () => {
    const said = await sql('select state, count(*) as runs, max(finished_at) as last from runs group by state')
    expect(said).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/│ state +│ runs │ last +│\n[^\n]*\n│ SUCCEEDED │ 3 +│ 2025-01-15T10:00:00\.000Z │/),
      stderr: expect.stringMatching(/^1 row at revision 4, published at 20\S+Z\.$/),
    })
    const none = await sql("select run_id, error from runs where state = 'FAILED'")
    expect(none).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/│ run_id │ error │/),
      stderr: expect.stringMatching(/^0 rows at/),
    })
    const many = await sql('select task_key from tasks', '--limit', '2')
    expect(many.stdout.split('\n')).toHaveLength(6)
    expect(many.stderr).toContain('These are the first 2 rows. Say --limit to see more')
  },
  TIMEOUT_MS,
)

test(
  'reads times without a zone in a statement as UTC, and refuses them in --as-of',
  async () => {
    const typed =
      "select count(*) as runs from runs where requested_at = '2025-01-15 10:00' and requested_at < timestamptz '2025-01-15 05:01:00-05'"
    expect(jsonOf(await sql(typed, '--json'))).toEqual([{ runs: 3 }])
    expect(await sql('select count(*) as runs from runs', '--as-of', '2125-01-15 10:00')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('Write 2125-01-15T10:00:00Z for UTC, or 2125-01-15T10:00:00-04:00 for a clock four hours behind it.'),
    })
    for (const moment of ['2125-01-15 10:00Z', '2125-01-15T10:00:00-05:00']) {
      const { stdout } = await sql('select count(*) as runs from runs', '--as-of', moment, '--json')
      expect(JSON.parse(stdout)).toEqual([{ runs: 3 }])
    }
  },
  TIMEOUT_MS,
)

test(
  'prints one JSON value for programs, however long',
  async () => {
    const [row] = jsonOf(await sql('select * from runs', '--json', '--limit', '1')) as [Record<string, unknown>]
    expect(row).toMatchObject({ tenant_id: TENANT_ID, state: 'SUCCEEDED', tasks_total: 6, requested_at: '2025-01-15T10:00:00.000Z' })
    expect(jsonOf(await sql("select * from runs where state = 'FAILED'", '--json'))).toEqual([])
    expect(jsonOf(await sql('select range as n from range(300000)', '--json'))).toHaveLength(300_000)
    expect(jsonOf(await sql('select count(*) as tasks from tasks', '--json'))).toEqual([{ tasks: 18 }])
  },
  TIMEOUT_MS,
)

test(
  'waits for whoever reads it through a pipe, and ends well where he has enough',
  async () => {
    const text = 'select range as n, repeat(md5(range::varchar), 10) as text from range(100000)'
    const servo = `'${process.execPath}' '${ROOT}bin/servo.js' sql ${place.map((word) => `'${word}'`).join(' ')} '${text}' --json`
    const piped = (reader: string) => promisify(execFile)('bash', ['-euo', 'pipefail', '-c', `${servo} | ${reader}`])
    expect(Number((await piped('wc -c')).stdout)).toBeGreaterThan(30_000_000)
    expect((await piped('head -c 7')).stdout).toBe('[{"n":0')
  },
  TIMEOUT_MS,
)

test(
  'shows the tables as they were, all at the same revision',
  async () => {
    const text = 'select (select count(*) from runs) as runs, (select count(*) from tasks) as tasks'
    for (const [moment, runs] of [
      ['1', 1],
      ['2', 2],
      ['3', 2],
      ['4', 3],
    ] as const) {
      const { stderr, ...answered } = await sql(text, '--json', '--as-of', moment)
      expect(stderr).toMatch(new RegExp(`^The rows are those at revision ${moment}, published at [^ ]+Z\\.$`))
      expect(jsonOf({ ...answered, stderr: '' })).toEqual([{ runs, tasks: 6 * runs }])
    }
    const before = await sql(text, '--as-of', '2020-01-01T00:00:00Z')
    expect(before).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('No revision was published at or before') })
  },
  TIMEOUT_MS,
)

test(
  'writes a Parquet file, over the former one and whole or not at all',
  async () => {
    const output = join(folder, 'tasks.parquet')
    const text = 'select task_key, state, finished_at, row_version from tasks order by run_id, task_index;'
    expect(await sql(text, '--output', output)).toMatchObject({
      code: 0,
      stdout: '',
      stderr: `18 rows at revision 4 written to ${output}.`,
    })
    expect(jsonOf(await sql(text, '--output', output, '--json'))).toEqual({ file: output, row_count: 18, sequence: 4 })
    const bytes = await readFile(output)
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
    const rows = await parquetReadObjects({ file, compressors })
    expect(rows).toHaveLength(18)
    expect(rows[0]).toMatchObject({ task_key: 'raw.events', state: 'SUCCEEDED', finished_at: new Date('2025-01-15T10:00:00Z') })
    const failed = await sql('select task_key::integer as n from tasks', '--output', output)
    expect(failed).toMatchObject({ code: 2, stderr: expect.stringContaining("Could not convert string '") })
    expect(await readFile(output)).toEqual(bytes)
    expect((await readdir(folder)).filter((name) => name.includes('.part'))).toEqual([])
    expect(await sql(text, '--output', join(folder, 'no', 'folder.parquet'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no folder'),
    })
    expect(await sql(text, '--output', folder)).toMatchObject({ code: 1, stderr: expect.stringContaining('could not be written') })
    expect(await sql(text, '--output', output, '--limit', '2')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('leave --limit out'),
    })
  },
  TIMEOUT_MS,
)

test(
  'says what is wrong with a statement, with its place, and exits with 2',
  async () => {
    expect(await sql('select state, coun(*) from runs')).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^servo: Line 1, column 15: Scalar Function with name coun does not exist\./),
    })
    expect(await sql('drop table runs')).toMatchObject({
      code: 2,
      stderr: 'servo: Only a SELECT can be run: tables change by events alone.',
    })
    expect(await sql("select * from read_csv('/etc/passwd')")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('nothing else on this machine'),
    })
    expect(await sql()).toMatchObject({ code: 2, stderr: expect.stringContaining('Give one statement, such as') })
    expect(await sql('select 1', '--tables')).toMatchObject({ code: 2, stderr: expect.stringContaining('Give one statement, such as') })
    expect(await sql('--files', '--tables')).toMatchObject({ code: 2, stderr: 'servo: Give one of --tables and --files.' })
  },
  TIMEOUT_MS,
)

test(
  'stops what takes too long or too much, and exits with 1',
  async () => {
    expect(await sql('select count(*) from range(1000000000000)', '--timeout', '1s')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('took longer than 1 s and was stopped'),
    })
    expect(await sql('select count(distinct range) from range(100000000)', '--memory', '64')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('needs more than the 64 MB'),
    })
  },
  TIMEOUT_MS,
)

test(
  'lists tables with their columns, and the files of a revision',
  async () => {
    const tables = jsonOf(await shell.run(['sql', '--tables', '--json'])) as { table: string; key: string[]; columns: object[] }[]
    expect(tables.map(({ table }) => table)).toEqual(TABLE_NAMES)
    expect(tables[0]).toMatchObject({ table: 'runs', key: ['run_id'] })
    expect(tables[0]?.columns).toContainEqual({ column: 'error', type: 'VARCHAR', nullable: true, holds_json: true })
    expect((await shell.run(['sql', '--tables'])).stdout).toMatch(/│ +│ finished_at +│ TIMESTAMPTZ │ may be null/)
    const files = jsonOf(await sql('--files', '--json')) as {
      sequence: number
      tables: { table: string; files: { path: string; rows: number }[] }[]
    }
    expect(files.sequence).toBe(4)
    for (const { path } of files.tables.flatMap((table) => table.files))
      expect((await readFile(path)).subarray(0, 4).toString()).toBe('PAR1')
    // The base of two runs, and the third above it.
    expect(files.tables.find(({ table }) => table === 'runs')?.files.map(({ rows }) => rows)).toEqual([2, 1])
    const older = jsonOf(await sql('--files', '--json', '--as-of', '1')) as typeof files
    expect(older.tables.find(({ table }) => table === 'runs')?.files).toHaveLength(1)
    expect(await sql('--files')).toMatchObject({ code: 0, stderr: expect.stringContaining('the one with the highest row_version counts') })
  },
  TIMEOUT_MS,
)
