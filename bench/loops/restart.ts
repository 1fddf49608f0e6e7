// How soon a thousand schedule loops answer after their automation was restarted. Their histories are as long as two days of
// fires leave them: each loop is at another place between two beginnings of its history.

import { NativeConnection } from '@temporalio/worker'
import { ENTITY_LOOK_EVERY_MS_MAX, ENTITY_LOOKS_A_RUN } from '../../src/core/loop-limits.js'
import { taskQueues, workflowId } from '../../src/core/names.js'
import { SECOND_MS } from '../../src/core/time.js'
import { entityStateQuery, pokeSignal } from '../../src/workflows/contract.js'
import { SCHEDULE_REPORT } from '../../test/fixtures/loop-reports.js'
import { startScriptedLoops } from '../../test/fixtures/scripted-loops.js'
import { untilSeen } from '../../test/fixtures/until.js'
import type { Report } from '../report.js'
import type { SuiteOptions } from '../truth/options.js'
import { readRuns } from './actions.js'
import { defineSchedules, SCOPE, type Scheduled, untilLoopsStand, withSchedules } from './schedules.js'

const LOOPS = 1_000
const QUICK_LOOPS = 100
const SETTLED_WITHIN_MS = 3_600_000
const QUERIES_AT_ONCE = 32

export async function measureRestart(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const count = is_quick ? QUICK_LOOPS : LOOPS
  await withSchedules(async (system) => {
    const ids = await defineSchedules(system, count, (i) => `${i % 60} ${i % 24} 1 1 *`)
    await untilLoopsStand(system, count)
    await system.kill('automation', 'SIGTERM')
    await makeHistories(system, ids)
    const lengths = (await readRuns(system.temporal.client, 'ServoKind = "schedule" AND ExecutionStatus = "Running"')).map(
      ({ events }) => events.length,
    )
    const began = performance.now()
    await system.start('automation')
    await untilAllAnswer(system, ids)
    const value = (performance.now() - began) / SECOND_MS
    const events = Math.round(lengths.reduce((sum, length) => sum + length, 0) / lengths.length)
    const setup = `${count} schedule loops, ${events} events each on average and ${Math.max(...lengths)} at most; automation started until each has answered a query`
    report.add({ name: 'loops_restart_s', value, unit: 's', target: '<= 20', setup })
  })
}

/** Looks one after the other, as fast as the loops wait, with calls that answer at once. */
async function makeHistories(system: Scheduled, ids: readonly string[]): Promise<void> {
  const wanted = new Map(ids.map((id, i) => [id, Math.ceil((ENTITY_LOOKS_A_RUN * (i + 1)) / ids.length)]))
  const connection = await NativeConnection.connect({ address: system.environment['TEMPORAL_ADDRESS'] ?? '' })
  const loops = await startScriptedLoops(connection, 'bench', taskQueues(SCOPE), {
    real: {
      async scheduleTurn({ schedule_id }) {
        const left = (wanted.get(schedule_id) ?? 1) - 1
        wanted.set(schedule_id, left)
        return { ...SCHEDULE_REPORT, wake_in_ms: left > 0 ? 0 : ENTITY_LOOK_EVERY_MS_MAX }
      },
    },
  })
  try {
    for (const id of ids) await system.temporal.client.workflow.getHandle(workflowId(SCOPE, 'schedule', id)).signal(pokeSignal)
    await untilSeen('all histories are made', async () => [...wanted.values()].every((left) => left <= 0), SETTLED_WITHIN_MS)
  } finally {
    await loops.stop()
    await connection.close()
  }
}

async function untilAllAnswer({ temporal }: Scheduled, ids: readonly string[]): Promise<void> {
  const rest = ids.values()
  const asker = async () => {
    for (const id of rest) {
      const handle = temporal.client.workflow.getHandle(workflowId(SCOPE, 'schedule', id))
      await untilSeen(
        `${id} answers`,
        () =>
          handle.query(entityStateQuery).then(
            () => true,
            () => undefined,
          ),
        SETTLED_WITHIN_MS,
      )
    }
  }
  await Promise.all(Array.from({ length: QUERIES_AT_ONCE }, asker))
}
