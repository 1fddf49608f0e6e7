// What a replay finds: every row of every table and each of its columns, whether its own rows are in memory or in its file.

import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, expect, test } from '@jest/globals'
import { DAY_MS } from '../../src/core/time.js'
import { type LooseRow, TABLE_NAMES, type TableName, tableNamed } from '../../src/projections/tables.js'
import type { TableFiles } from '../../src/tables/table-files.js'
import { replay } from '../../src/turn/replay.js'
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

function replayOf({ world }: Scenario, held_rows_max: number, alter: Alter = (_, rows) => rows) {
  const files: TableFiles = {
    ...world.files,
    async *stream(table, references) {
      for await (const rows of world.files.stream(table, references)) yield alter(table, rows)
    },
  }
  return replay({ live: { store: world.bucket, files }, scope: world.scope, scratch_folder: tmpdir(), held_rows_max })
}

/** All rows in memory; rows in its file after each revision. */
const HELD = [
  ['in memory', 1_000_000],
  ['in its file', 1],
] as const

describe.each(HELD)('a replay with its rows %s', (_, held_rows_max) => {
  test('finds nothing where all is as it was folded, and leaves no file', async () => {
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('servo-replay-'))
    const answer = await replayOf(await tellRuns(), held_rows_max)
    expect(answer.differences).toEqual([])
    expect(answer.row_count).toBeGreaterThan(50)
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('servo-replay-') && !before.includes(name))).toEqual([])
  })

  test('names the row and the column that differs, whichever it is', async () => {
    const scenario = await tellRuns()
    const seen = new Map<TableName, readonly LooseRow[]>()
    await replayOf(scenario, held_rows_max, (table, rows) => {
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
        const { differences } = await replayOf(scenario, held_rows_max, (of, all) =>
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
      const { differences } = await replayOf(scenario, held_rows_max, (table, rows) => (table === 'runs' ? rows.slice(...kept) : rows))
      expect(differences).toMatchObject([{ table: 'runs', columns: [], live: null }])
    }
    const more = await replayOf(scenario, held_rows_max, (table, rows) =>
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
