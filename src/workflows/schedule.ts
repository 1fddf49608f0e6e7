// The loop of a schedule: its page, its commands, and a second way to a turn when one is due and none has come.

import * as wf from '@temporalio/workflow'
import type { Activities } from '../activities/index.js'
import { queuesBeside } from '../core/names.js'
import { callOptions } from './activity-options.js'
import type { ScheduleCommand, ScheduleLoopInput, ScheduleReport } from './contract.js'
import { runEntityLoop } from './entity-loop.js'

export async function scheduleLoop(input: ScheduleLoopInput): Promise<void> {
  const { tenant_id, workspace_id, schedule_id } = input
  const calls = wf.proxyActivities<Pick<Activities, 'scheduleTurn'>>(callOptions(queuesBeside(wf.workflowInfo().taskQueue)))
  await runEntityLoop<ScheduleCommand, ScheduleReport, ScheduleLoopInput>(input, {
    commands: {
      pause: { description: 'Pauses the schedule: its instants are skipped until it is resumed.' },
      resume: { description: 'Resumes the schedule.' },
      trigger: {
        description: 'Makes a tick now, whatever the cron says. The answer names the tick and its runs.',
        members: { partition: '2025-01-15', instant: '2025-01-15T10:00:00.000Z' },
        is_update_only: true,
      },
    },
    look: (commands, summary) => calls.scheduleTurn.executeWithOptions({ summary }, [{ tenant_id, workspace_id, schedule_id, commands }]),
    last_statuses: ['REMOVED'],
    hint: 'Terminating this workflow does not stop the schedule. Send pause.',
  })
}
