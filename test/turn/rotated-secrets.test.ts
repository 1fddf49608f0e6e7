// While secrets are rotated, two automations make different ids for the same run and the same attempt. The first that is
// recorded stands, as for everything that two turns say at once.

import { describe, expect, test } from '@jest/globals'
import { scheduleRunKey } from '../../src/core/keys.js'
import { attemptId, runId } from '../../src/core/run-id.js'
import { MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { createReconcile } from '../../src/turn/controllers.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { NOW, ulidOf } from '../fixtures/say.js'
import { createScenario, once } from '../fixtures/scenario.js'

const OLD = { secret_key_id: 's1', secret: 'servo-golden-secret' }
const NEW = { secret_key_id: 's2', secret: 'the-secret-that-comes-next' }
const SCHEDULE = ulidOf('schedule a')
const DUE = NOW + MINUTE_MS

describe('I8 two automations with different secrets decide the same tick', () => {
  test.each([
    ['before', 'ledger/'],
    ['after', 'ledger/'],
    ['before', 'state/'],
    ['before', 'manifests/orchestration/revisions/'],
    ['before', 'manifests/orchestration.manifest.json'],
  ] as const)('%s the old one has written %s', async (when, name) => {
    const { tell, writer, say, defineAssets, decider, rows, world, expectInvariants } = createScenario()
    const old = decider('old', { reconcile: createReconcile({ secret: OLD }) })
    const next = decider('next', { reconcile: createReconcile({ secret: NEW }) })
    await tell(async () => {
      await defineAssets()
      await writer().append([say.scheduleDefined(SCHEDULE, {}, {}, { at: NOW })])
      await decider('fold', { reconcile: foldOnly }).turn()
      await world.time.sleep(DUE + SECOND_MS - world.time.now())
      once(world, when, { process: 'old', operation: 'put', name }, async () => void (await next.turn()))
      await old.turn()
    })
    await tell(async () => {
      for (const { turn } of [next, old]) await turn()
    })
    const [run, ...others] = await rows('runs')
    expect(others).toEqual([])
    const known = [OLD, NEW].find((secret) => runId(secret, world.scope, scheduleRunKey(SCHEDULE, DUE / SECOND_MS)) === run?.['run_id'])
    expect(run).toMatchObject({ secret_key_id: known?.secret_key_id, state: 'PLANNED' })
    expect(await rows('schedule_ticks')).toMatchObject([{ status: 'TRIGGERED', run_id: run?.['run_id'], conflict_count: 0 }])
    const attempt = { run_id: String(run?.['run_id']), task_key: 'a', attempt: 1 }
    const [out, ...more] = await rows('dispatch_outbox')
    expect(more).toEqual([])
    expect([OLD, NEW].map((secret) => attemptId(secret, attempt))).toContain(out?.['attempt_id'])
    expect(await rows('tasks')).toMatchObject([{ ...attempt, attempt_id: out?.['attempt_id'], state: 'DISPATCHED' }])
    expect(await rows('run_key_conflicts')).toEqual([])
    await expectInvariants()
  })
})
