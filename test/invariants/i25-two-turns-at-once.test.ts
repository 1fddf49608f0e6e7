import { expect, test } from '@jest/globals'
import type { LooseRow } from '../../src/projections/tables.js'
import { createScenario } from '../fixtures/scenario.js'
import { secondTurnAt } from '../fixtures/second-turn.js'

const COMPARED = ['runs', 'tasks', 'dep_satisfaction', 'dispatch_outbox', 'pools', 'run_key_index', 'run_key_conflicts'] as const

/** The tables of a workspace in which a second turn begins and ends at the n-th call of the first one; 0: no second turn. */
async function tablesWith(at: number): Promise<{ readonly rows: readonly LooseRow[]; readonly isOver: boolean }> {
  const { say, writer, decider, tell, world, defineAssets, rows, expectInvariants } = createScenario({ latency_ms: () => 5 })
  const [first, second] = [decider('first'), decider('second')]
  const isOver = await tell(async () => {
    await defineAssets()
    await writer().append([say.poolDefined('global', 2), say.runRequested('user:1', { assets: { keys: ['a', 'b', 'c'] } })])
    await writer().append([say.runRequested('user:2', { assets: { keys: ['c'] } })])
    const { hasBegun } = secondTurnAt(world, at, 'first', second)
    await first.turn()
    await Promise.all([first.turn(), second.turn()])
    return !hasBegun()
  })
  await expectInvariants()
  const found = await Promise.all(COMPARED.map(rows))
  return { isOver, rows: found.flat().map((row) => withoutWriter(row)) }
}

/** Which turn said it, when, and in which revision, is what may differ. */
const withoutWriter = (row: LooseRow): LooseRow => {
  const columns = Object.entries(row).map(([column, value]) => [column, column.endsWith('_at') && value !== null ? 'then' : value])
  return { ...(Object.fromEntries(columns) as LooseRow), row_version: 0, last_event_id: '' }
}

test('I25 two turns at once leave the tables that one would have left, wherever the second one comes in between', async () => {
  const alone = await tablesWith(0)
  expect(alone.rows.filter(({ state }) => state === 'DISPATCHED')).toHaveLength(2)
  for (let at = 1; ; at++) {
    const { rows, isOver } = await tablesWith(at)
    expect(rows).toEqual(alone.rows)
    if (isOver) break
    expect(at).toBeLessThan(100)
  }
})
