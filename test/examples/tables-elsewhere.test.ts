// The pages on the tables in DuckDB's own command line and in pandas: their commands in their order, in a folder with a
// store of its own, with the versions that they name; and the rows that both find are those of `servo sql`.

import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { canonicalJson } from '../../src/core/canonical.js'
import { TABLE_NAMES, type TableName, tableNamed } from '../../src/projections/tables.js'
import { TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'
import { runServo } from '../fixtures/servo-process.js'
import { startServoShell } from '../fixtures/servo-shell.js'
import { STEADY_EVENTS_PER_RUN } from '../fixtures/steady-runs.js'
import { deployLines, STORY_SCOPE, storyLines } from '../fixtures/story-file.js'
import { ROOT, readText } from '../tidy/tree.js'

const TIMEOUT_MS = 120_000
const installed = spawnSync(process.execPath, [join(ROOT, 'scripts/python-packages.js')], { encoding: 'utf8' })
const packages = dirname(installed.stdout.trim())
const why = installed.stderr.trim().split('\n').at(-1)

type Row = Readonly<Record<string, unknown>>

const blocksOf = (path: string, language: string): readonly string[] =>
  [...readText(path).matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)]
    .filter(([, of]) => of === language)
    .map(([, , body]) => (body as string).trimEnd())

let folder = ''
let environment: Readonly<Record<string, string>> = {}

function run(line: string): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const env = {
    ...environment,
    PATH: `${join(packages, 'bin')}:${process.env['PATH']}`,
    HOME: folder,
    PYTHONPATH: packages,
    PYTHONDONTWRITEBYTECODE: '1',
  }
  const script = line.replaceAll('npx servo', `'${process.execPath}' '${ROOT}bin/servo.js'`)
  return new Promise((resolve) => {
    execFile(
      'bash',
      ['-euo', 'pipefail', '-c', script],
      { cwd: folder, env, encoding: 'utf8', maxBuffer: 64 << 20 },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : 1, stdout, stderr }),
    )
  })
}

/** What the page installs is what is installed here, once a machine. */
async function runPage(path: string, language: string): Promise<string> {
  const lines = blocksOf(path, language).flatMap((block) => block.split('\n'))
  const pins = readFileSync(join(packages, 'python-packages'), 'utf8').trim().split('\n')
  expect(lines[0]).toMatch(/^pip install /)
  for (const name of (lines[0] as string).replace('pip install ', '').split(' ')) expect(pins).toContain(name)
  let all = ''
  for (const line of lines.slice(1)) {
    const { code, stdout, stderr } = await run(line)
    expect({ line, code, stderr: code === 0 ? '' : stderr }).toEqual({ line, code: 0, stderr: '' })
    all += stdout
  }
  return all
}

const textOf = (rows: readonly Row[]): readonly string[] => rows.map((row) => canonicalJson(row)).sort()

const expected = new Map<TableName, readonly string[]>()

/** Instants in one spelling. */
function likeServo(table: TableName, rows: readonly Row[]): readonly Row[] {
  const { columns } = tableNamed(table)
  const spelled = ([name, value]: readonly [string, unknown]) => {
    const isInstant = columns[name]?.type === 'timestamp' && value !== null
    return [name, isInstant ? new Date(String(value).replace(/\+00$/, 'Z')).toISOString() : value] as const
  }
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(spelled)))
}

if (installed.status === 0) {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'servo-elsewhere-'))
    environment = { SERVO_STORE: `local:${join(folder, 'store')}`, SERVO_TENANT: TENANT_ID, SERVO_WORKSPACE: WORKSPACE_ID }
    // A base of two runs, and a third above it: keys that are in several files.
    for (const name of ['one', 'two', 'three']) {
      const lines = `${name === 'one' ? deployLines() : ''}${storyLines({ events: STEADY_EVENTS_PER_RUN, name })}`
      expect(await runServo(['ledger', 'append', '--file', '-'], environment, lines)).toMatchObject({ code: 0 })
      expect(await runServo(['ledger', 'compact', ...(name === 'two' ? ['--merge'] : [])], environment)).toMatchObject({ code: 0 })
    }
    const shell = startServoShell()
    for (const table of TABLE_NAMES) {
      const { stdout } = await shell.run([
        'sql',
        `select * from ${table}`,
        '--json',
        '--store',
        environment['SERVO_STORE'] as string,
        ...STORY_SCOPE,
      ])
      expected.set(table, textOf(JSON.parse(stdout) as readonly Row[]))
    }
    await shell.close()
  }, TIMEOUT_MS)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  describe("the page on DuckDB's own command line", () => {
    test(
      'has commands that work',
      async () => {
        const said = await runPage('docs/tables-in-duckdb.md', 'sh duckdb')
        expect(said).toMatch(/│ SUCCEEDED │ +3 │/)
        expect(await run('duckdb --version')).toMatchObject({ stdout: expect.stringMatching(/^v1\.5\.6 /) })
      },
      TIMEOUT_MS,
    )

    test(
      'leads to the rows of servo sql, of every table',
      async () => {
        expect(await run('npx servo sql --views > views.sql')).toMatchObject({ code: 0 })
        for (const table of TABLE_NAMES) {
          const { stdout } = await run(`duckdb -init views.sql -json -c "set TimeZone = 'UTC'" -c 'from ${table}'`)
          const rows = stdout.trim() === '' ? [] : (JSON.parse(stdout) as readonly Row[])
          expect({ table, rows: textOf(likeServo(table, rows)) }).toEqual({ table, rows: expected.get(table) })
        }
      },
      TIMEOUT_MS,
    )
  })

  describe('the page on pandas', () => {
    test(
      'has commands that work',
      async () => {
        const [module] = blocksOf('docs/tables-in-pandas.md', 'python pandas')
        writeFileSync(join(folder, 'tables.py'), `${module}\n`)
        const said = await runPage('docs/tables-in-pandas.md', 'sh pandas')
        expect(said).toMatch(/SUCCEEDED +3/)
        expect(await run('python3 -c "import pandas, pyarrow; print(pandas.__version__, pyarrow.__version__)"')).toMatchObject({
          code: 0,
          stdout: '3.1.1 26.0.1\n',
        })
      },
      TIMEOUT_MS,
    )

    test(
      'leads to the rows of servo sql, of every table',
      async () => {
        writeFileSync(
          join(folder, 'all.py'),
          [
            'import json, tables',
            "print(json.dumps({name: json.loads(tables.table(name).to_json(orient='records', date_format='iso')) for name in tables.TABLES}))",
            '',
          ].join('\n'),
        )
        const { code, stdout, stderr } = await run('python3 all.py')
        expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
        const found = JSON.parse(stdout) as Readonly<Record<TableName, readonly Row[]>>
        for (const table of TABLE_NAMES) {
          expect({ table, rows: textOf(likeServo(table, found[table])) }).toEqual({ table, rows: expected.get(table) })
        }
        expect(found.tasks.length).toBe(18)
      },
      TIMEOUT_MS,
    )
  })
} else {
  test.skip(`skipped: the packages of Python are not here: ${why}`, () => undefined)
}
