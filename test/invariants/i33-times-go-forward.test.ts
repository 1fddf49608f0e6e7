import { expect, test } from '@jest/globals'
import { MINUTE_MS } from '../../src/core/time.js'
import type { LooseRow, TableName } from '../../src/projections/tables.js'
import { createScenario } from '../fixtures/scenario.js'
import { createWorker } from '../fixtures/worker.js'
import { checkTimes } from './time-checks.js'

test.each([-5 * MINUTE_MS, -400, 300, 5 * MINUTE_MS])(
  'I33 no row says that something happened before what it rests on, where those who say it are off by %i ms',
  async (off_ms) => {
    const { say, writer, decider, tell, world, defineAssets, rows, expectInvariants } = createScenario()
    const { turn } = decider()
    const { append } = writer()
    await tell(async () => {
      await defineAssets()
      const workers = [off_ms, 0].map((skew_ms) => createWorker(world, world.start('worker', { skew_ms: () => skew_ms }), { failing: 0.2 }))
      for (const [index, at] of [0, off_ms, -off_ms].entries()) {
        const request = say.runRequested(`user:${index}`, { assets: { keys: ['a', 'b', 'c'] } }, { at: world.time.now() + at })
        await append([request])
        await turn()
        if (index === 2) await append([say.runCancelRequested(request.payload.run_id, { at: world.time.now() - at })])
        for (const worker of [...workers, ...workers]) {
          await worker.work()
          await turn()
        }
      }
    })
    expect((await rows('tasks')).filter(({ finished_at }) => finished_at !== null).length).toBeGreaterThan(4)
    await expectInvariants()
  },
)

test.each<[string, TableName, Record<string, unknown>, string]>([
  ['a run', 'runs', { run_id: 'r', requested_at: 2_000, planned_at: 1_000 }, 'planned_at is 1970-01-01T00:00:01.000Z, before requested_at'],
  ['a task', 'tasks', { run_id: 'r', task_key: 'a', dispatched_at: 1, started_at: null, finished_at: 0 }, 'finished_at is'],
  ['an attempt', 'dispatch_outbox', { run_id: 'r', task_key: 'a', attempt: 1, requested_at: 2, closed_at: 1 }, 'closed_at is'],
])('I33 its check notices %s whose times go back', (_, table, row, sentence) => {
  expect(checkTimes(new Map([[table, [row as LooseRow]]]), 'Here')).toEqual([expect.stringContaining(sentence)])
})
