// What a replay finds: every row of every table and each of its columns, whether its own rows are in memory or in its file.

import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, expect, test } from '@jest/globals'
import type { Compared } from '../../src/compactor/compare.js'
import { DAY_MS } from '../../src/core/time.js'
import { type LooseRow, TABLE_NAMES, type TableName, tableNamed } from '../../src/projections/tables.js'
import type { TableStore } from '../../src/tables/snapshot.js'
import type { TableFiles } from '../../src/tables/table-files.js'
import { replay } from '../../src/turn/replay.js'
import { type CompareJob, compareJob } from '../../src/turn/replayed/compare-kept.js'
import { merge } from '../fixtures/roles.js'
import { createScenario, type Scenario } from '../fixtures/scenario.js'

/** Runs over days, of which keys expire, with merges and refusals in between. */
async function tellRuns(): Promise<Scenario> {
  const scenario = createScenario()
  const { say, writer, decider, world, tell, defineAssets } = scenario
  await tell(async () => {
    await defineAssets()
    const { append } = writer()
    const { turn } = decider()
    const keeper = world.start('keeper')
    for (let day = 0; day < 9; day++) {
      await append([say.runRequested(`user:${day}`, { assets: { keys: ['a', 'b'] } }), say.runCancelRequested(`run_${day}`)])
      await turn()
      if (day === 4) await merge(keeper, true)
      await world.time.sleep(DAY_MS)
    }
  })
  return scenario
}

type Alter = (table: TableName, rows: readonly LooseRow[]) => readonly LooseRow[]

type Beside = (live: TableStore, job: CompareJob) => Promise<Compared>

function replayOf({ world }: Scenario, held: Held, alter: Alter = (_, rows) => rows, compare?: Beside) {
  const files: TableFiles = {
    ...world.files,
    async *stream(table, references) {
      for await (const rows of world.files.stream(table, references)) yield alter(table, rows)
    },
  }
  const live = { store: world.bucket, files }
  const beside =
    compare === undefined ? {} : { beside: { bytes_min: 0, compare: (job: CompareJob) => compare(live, structuredClone(job)) } }
  return replay({ live, scope: world.scope, scratch_folder: tmpdir(), held, ...beside })
}

type Held = { readonly rows: number; readonly bytes: number }

/** After each revision. */
const IN_FILE: Held = { rows: 1, bytes: 1 }

const HELD = [
  ['in memory', { rows: 1_000_000, bytes: 1_000_000 }],
  ['in its file', IN_FILE],
] as const

describe.each(HELD)('a replay with its rows %s', (_, held) => {
  test('finds nothing where all is as it was folded, and leaves no file', async () => {
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('servo-spill-'))
    const answer = await replayOf(await tellRuns(), held)
    expect(answer.differences).toEqual([])
    expect(answer.row_count).toBeGreaterThan(50)
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('servo-spill-') && !before.includes(name))).toEqual([])
  })

  test('names the row and the column that differs, whichever it is', async () => {
    const scenario = await tellRuns()
    const seen = new Map<TableName, readonly LooseRow[]>()
    await replayOf(scenario, held, (table, rows) => {
      seen.set(table, [...(seen.get(table) ?? []), ...rows])
      return rows
    })
    for (const [table, rows] of seen) {
      const { columns, key } = tableNamed(table)
      const others = Object.keys(columns).filter((name) => !key.includes(name))
      // Of another row each time: the first ones may have expired.
      const row = rows.at(-1) as LooseRow
      for (const name of [others[0] as string, others.at(-1) as string]) {
        const altered = { ...row, [name]: typeof row[name] === 'number' ? row[name] + 1 : 'altered' }
        const { differences } = await replayOf(scenario, held, (of, all) =>
          all.map((one) => (of === table && one === find(all, row, key) ? altered : one)),
        )
        expect(differences).toMatchObject([{ table, key: key.map((part) => row[part]), columns: [name], live: altered, replayed: row }])
      }
    }
    expect(seen.size).toBeGreaterThan(6)
  })

  test('names rows that one side alone has', async () => {
    const scenario = await tellRuns()
    for (const kept of [[1], [0, -1]]) {
      const { differences } = await replayOf(scenario, held, (table, rows) => (table === 'runs' ? rows.slice(...kept) : rows))
      expect(differences).toMatchObject([{ table: 'runs', columns: [], live: null }])
    }
    const more = await replayOf(scenario, held, (table, rows) =>
      table === 'tasks' ? [...rows, { ...(rows.at(-1) as LooseRow), task_key: 'zzz' }] : rows,
    )
    expect(more.differences).toMatchObject([{ table: 'tasks', columns: [], replayed: null }])
  })
})

const find = (rows: readonly LooseRow[], wanted: LooseRow, key: readonly string[]) =>
  rows.find((row) => key.every((part) => row[part] === wanted[part]))

test('every table is compared', async () => {
  const asked: TableName[] = []
  const scenario = await tellRuns()
  const { files } = scenario.world
  const watched: TableFiles = {
    ...files,
    stream(table, references) {
      asked.push(table)
      return files.stream(table, references)
    },
  }
  await replay({ live: { store: scenario.world.bucket, files: watched }, scope: scenario.world.scope, scratch_folder: tmpdir() })
  expect(asked).toEqual(TABLE_NAMES)
})

describe('with another thread', () => {
  const altered: Alter = (table, rows) =>
    table === 'quarantine' ? rows : rows.map((row, i) => (i === 0 ? { ...row, last_event_id: 'altered' } : row))

  test('each table is compared in one of them, and what differs is told in the same order', async () => {
    const scenario = await tellRuns()
    const alone = await replayOf(scenario, IN_FILE, altered)
    expect(alone.differences.length).toBeGreaterThan(4)
    const jobs: CompareJob[] = []
    const both = await replayOf(scenario, IN_FILE, altered, (live, job) => {
      jobs.push(job)
      return compareJob(live, job)
    })
    // Each stops when it has found enough, so that the rows until then are others.
    expect(both.differences).toEqual(alone.differences)
    expect(jobs).toHaveLength(1)
    const [job] = jobs as [CompareJob]
    expect(job.tables.length).toBeGreaterThan(0)
    expect(job.tables.length).toBeLessThan(TABLE_NAMES.length)
  })

  test('that fails, all of them are compared all the same', async () => {
    const scenario = await tellRuns()
    const fails = () => Promise.reject(new Error('The thread has no memory left.'))
    const { differences } = await replayOf(scenario, IN_FILE, altered)
    expect((await replayOf(scenario, IN_FILE, altered, fails)).differences).toEqual(differences)
  })
})
