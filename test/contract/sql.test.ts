// SQL over a workspace that was really folded, merged and folded on, in a folder and in a bucket: every table at every
// revision has the rows that the reader has, and nothing but the files of the tables that a statement names is fetched.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Deps, openAppender, openDeps, openReader, turnDeps } from '../../src/bin/deps.js'
import { mergeBase } from '../../src/compactor/merge.js'
import { canonicalJson } from '../../src/core/canonical.js'
import { TABLE_NAMES, type TableName, tableNamed } from '../../src/projections/tables.js'
import { openAsOf } from '../../src/readers/as-of.js'
import { readAll } from '../../src/readers/pages.js'
import type { View } from '../../src/readers/reader.js'
import { presentRow } from '../../src/readers/rows.js'
import { createTurn } from '../../src/turn/turn.js'
import { type FakeGcs, startFakeGcs } from '../fixtures/fake-gcs.js'
import { createSpeaker, runIdOf, TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'
import { dispatchStory } from '../fixtures/short-story.js'
import { askSql, type SqlRow } from '../fixtures/sql.js'

/** The server may have to be built first. */
const SET_UP_TIMEOUT_MS = 600_000
const TIMEOUT_MS = 120_000
const SCOPE = { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID }
/** Levels above one another, and revisions above them. */
const MERGES_AFTER = [2, 4, 8]

let folder = ''
let server: FakeGcs
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servo-sql-'))
  server = await startFakeGcs()
}, SET_UP_TIMEOUT_MS)
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

async function tell(deps: Deps, merges_after: readonly number[] = MERGES_AFTER): Promise<void> {
  const appender = await openAppender(deps)
  const turn = createTurn(turnDeps(deps, appender))
  for (const [i, batch] of dispatchStory(createSpeaker()).entries()) {
    await appender.append([...batch])
    await turn.run()
    if (merges_after.includes(i)) await mergeBase(deps)
  }
}

/** What its events say happened long ago: runs that are over are cold with the first merge. Then some of it comes again. */
async function tellCold(deps: Deps): Promise<void> {
  await tell(deps, [])
  const appender = await openAppender(deps)
  const turn = createTurn(turnDeps(deps, appender))
  const say = createSpeaker()
  await appender.append(['user:1', 'user:2', 'user:3'].map((run_key) => say.runCancelRequested(runIdOf(run_key))))
  await turn.run()
  await mergeBase(deps)
  await appender.append([say.runRequested('user:3', { assets: { keys: ['a'] } })])
  await turn.run()
}

/** JSON is text in the files; of rows in memory it is the value. */
function textOf(table: TableName, rows: readonly SqlRow[]): readonly string[] {
  const { columns } = tableNamed(table)
  const isJson = (name: string) => columns[name]?.type === 'json'
  const shown = (name: string, value: unknown) => (isJson(name) && typeof value === 'string' ? (JSON.parse(value) as unknown) : value)
  return rows.map((row) => canonicalJson(Object.fromEntries(Object.entries(row).map(([name, value]) => [name, shown(name, value)])))).sort()
}

async function expectSameRows(deps: Deps, view: View, table: TableName): Promise<number> {
  const { answer, rows } = await askSql(deps, view, `select * from ${table}`)
  const expected = (await readAll(view, table)).map((row) => presentRow(table, row, SCOPE))
  expect({ table, sequence: view.sequence, answer }).toEqual({
    table,
    sequence: view.sequence,
    answer: { kind: 'done', row_count: expected.length },
  })
  expect(textOf(table, rows)).toEqual(textOf(table, expected))
  return rows.length
}

const STORES = [
  { kind: 'a folder', open: (): Promise<Deps> => openDeps({ store: `local:${join(folder, 'store')}`, ...SCOPE }) },
  {
    kind: 'a bucket',
    open: (): Promise<Deps> =>
      openDeps({
        store: `gs://${server.bucket}/some/prefix`,
        gcs_endpoint: server.endpoint,
        cache_folder: join(folder, 'copies'),
        ...SCOPE,
      }),
  },
]

describe.each(STORES)('SQL over a workspace in $kind', ({ kind, open }) => {
  let deps: Deps
  const latest = async (): Promise<View> => {
    const view = await openReader(deps).latest()
    if (view === undefined) throw new Error('Nothing was published.')
    return view
  }
  beforeAll(async () => {
    deps = await open()
    await tell(deps)
  }, SET_UP_TIMEOUT_MS)
  afterAll(() => deps.close())

  // A bucket has the same documents, and each is an answer of a server: the newest and another will do.
  test(
    'has the rows of the reader, of every table at one revision after another',
    async () => {
      const newest = await latest()
      const some = Array.from({ length: newest.sequence }, (_, i) => i + 1).filter((sequence) => sequence % 3 === 1)
      let most = 0
      for (const sequence of [...(kind === 'a folder' ? some : [7]), newest.sequence]) {
        const view = openReader(deps).viewOf(await openAsOf(deps, { sequence }))
        let rows = 0
        for (const table of TABLE_NAMES) rows += await expectSameRows(deps, view, table)
        most = Math.max(most, rows)
      }
      expect(newest.snapshot.deltas.length).toBeGreaterThan(1)
      expect(most).toBeGreaterThan(30)
    },
    TIMEOUT_MS,
  )

  test(
    'joins tables, and groups rows of the base and of what lies above it',
    async () => {
      const view = await latest()
      const { answer, rows } = await askSql(
        deps,
        view,
        'select t.state, count(*) as tasks, count(distinct r.run_id) as runs from tasks t join runs r using (run_id) group by 1 order by 1',
      )
      expect(answer).toEqual({ kind: 'done', row_count: rows.length })
      const tasks = await readAll(view, 'tasks')
      const states = [...new Set(tasks.map(({ state }) => state as string))].sort()
      expect(rows.map(({ state, tasks: count }) => [state, count])).toEqual(
        states.map((state) => [state, tasks.filter((task) => task.state === state).length]),
      )
    },
    TIMEOUT_MS,
  )
})

test(
  'has the rows of cold parts, and those above them, as the reader has them',
  async () => {
    const deps = await openDeps({ store: `local:${join(folder, 'cold')}`, ...SCOPE })
    try {
      await tellCold(deps)
      const view = await openReader(deps).latest()
      if (view === undefined) throw new Error('Nothing was published.')
      expect([...view.snapshot.checkpoint.cold.keys()]).toEqual(expect.arrayContaining(['runs', 'tasks', 'dep_satisfaction']))
      const counts = new Map<TableName, number>()
      for (const table of TABLE_NAMES) counts.set(table, await expectSameRows(deps, view, table))
      expect([counts.get('runs'), (counts.get('tasks') ?? 0) >= 4]).toEqual([3, true])
    } finally {
      await deps.close()
    }
  },
  TIMEOUT_MS,
)

test(
  'a statement fetches the files of the tables that it names, and no other',
  async () => {
    const copies = join(folder, 'few copies')
    const deps = await openDeps({
      store: `gs://${server.bucket}/some/prefix`,
      gcs_endpoint: server.endpoint,
      cache_folder: copies,
      ...SCOPE,
    })
    try {
      const view = await openReader(deps).latest()
      if (view === undefined) throw new Error('Nothing was published.')
      expect((await askSql(deps, view, 'show tables')).rows.map(({ name }) => name)).toEqual([...TABLE_NAMES].sort())
      await expect(readdir(copies)).rejects.toMatchObject({ code: 'ENOENT' })
      expect((await askSql(deps, view, 'select pool_key from Pools')).answer.kind).toBe('done')
      const files = [
        ...(view.snapshot.checkpoint.tables.get('pools') ?? []),
        ...view.snapshot.deltas.flatMap(({ files_added }) => files_added.filter(({ table }) => table === 'pools')),
      ]
      expect(await readdir(copies)).toHaveLength(files.length)
      expect((await askSql(deps, view, "select count(*) from query_table('ru' || 'ns')")).answer).toEqual({
        kind: 'not_understood',
        sentence: 'The statement reads runs without naming it. Write the name runs somewhere in it.',
      })
    } finally {
      await deps.close()
    }
  },
  TIMEOUT_MS,
)
