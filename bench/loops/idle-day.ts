// The actions of a day in which one schedule fires once and nothing else happens. The fire is counted from the histories of
// all loops. For the rest of the day loops are taken to go on as the timers that are pending then say; that of maintenance is ten
// minutes then, and grows by a rule.

import { workflowId } from '../../src/core/names.js'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.js'
import { readAll } from '../../src/readers/pages.js'
import { pokeSignal } from '../../src/workflows/contract.js'
import { untilSeen } from '../../test/fixtures/until.js'
import type { Report } from '../report.js'
import type { SuiteOptions } from '../truth/options.js'
import { actionsText, countActions, pendingTimers, readRuns, totalOf } from './actions.js'
import { maintenanceLooksADay } from './maintenance-looks.js'
import { defineSchedules, SCOPE, type Scheduled, untilLoopsStand, withSchedules } from './schedules.js'

const ALL = 'ServoTenant = "default"'
/** After the run is over: its last callbacks, their turns, and what these poke. */
const QUIET_MS = 30 * SECOND_MS
/** From the backstop of a busy loop to that of an idle one, which doubles with each turn that finds nothing. */
const IDLE_POKES = 6
const BETWEEN_POKES_MS = 2 * SECOND_MS

const sleep = (duration_ms: number) => new Promise((resolve) => setTimeout(resolve, duration_ms))

export async function measureIdleDay(report: Report, _options: SuiteOptions): Promise<void> {
  await withSchedules(async (system) => {
    const { client } = system.temporal
    const due = new Date(Math.ceil((Date.now() + 45 * SECOND_MS) / MINUTE_MS) * MINUTE_MS)
    const [schedule_id = ''] = await defineSchedules(system, 1, () => `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`)
    await untilLoopsStand(system, 1)
    await sleep(Math.max(0, due.getTime() - Date.now() - 5 * SECOND_MS))
    const from = Date.now()
    if (from > due.getTime()) throw new Error('The loop was not started in time; the figure would mean nothing.')
    await untilTicked(system)
    await sleep(QUIET_MS)
    const fire = countActions(await readRuns(client, ALL), from)
    for (let i = 0; i < IDLE_POKES; i++) {
      await client.workflow.getHandle(workflowId(SCOPE, 'workspace')).signal(pokeSignal)
      await sleep(BETWEEN_POKES_MS)
    }
    const runs = await readRuns(client, ALL)
    const looksOf = (id: string) => pendingTimers(runs, id).reduce((sum, timer_ms) => sum + DAY_MS / timer_ms, 0)
    const looks = [looksOf(workflowId(SCOPE, 'workspace')), maintenanceLooksADay(), looksOf(workflowId(SCOPE, 'schedule', schedule_id))]
    // When a timer fires, the loop makes one call and starts the next timer: two actions.
    const idle = looks.map((count) => 2 * count)
    const value = totalOf(fire) + idle.reduce((sum, actions) => sum + actions, 0)
    const [workspace, maintenance, schedule] = idle.map(Math.round)
    const setup =
      `one daily schedule, its fire counted from the histories (${actionsText(fire)}); ` +
      `the rest of the day by the timers pending after it, and by the rule of maintenance: workspace ${workspace}, maintenance ${maintenance}, schedule ${schedule}`
    report.add({ name: 'temporal_actions_idle_day', value, unit: 'actions', target: '<= 420', setup })
  })
}

async function untilTicked({ reader, untilOver }: Scheduled): Promise<void> {
  const run_id = await untilSeen(
    'the schedule has fired',
    async () => {
      const view = await reader.latest()
      const runs = view === undefined ? [] : await readAll(view, 'runs')
      return runs.find(({ schedule_id }) => schedule_id !== null)?.run_id
    },
    3 * MINUTE_MS,
  )
  await untilOver(run_id)
}
