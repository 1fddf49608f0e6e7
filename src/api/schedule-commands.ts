// Commands on schedules: those of every noun, and a tick that a person asks for.

import { type Plan, submitClaimed } from '../commands/claims.js'
import { isProblem, type Problem } from '../commands/problem.js'
import { SCHEDULE_NOUN } from '../commands/schedule/noun.js'
import { planScheduleTrigger } from '../commands/schedule/trigger.js'
import { SCHEDULE_READS } from '../readers/schedules.js'
import { idempotencyHeader } from './contract/page.js'
import { SCHEDULE_BODIES, type ScheduleAccepted, scheduleParams, scheduleQuery } from './contract/schedule.js'
import { scheduleTriggerAsked, scheduleTriggered } from './contract/schedule-tick.js'
import { addDefinitionCommands } from './definitions/commands.js'
import { claimOf, requestOf, waited } from './http/claimed.js'
import type { Api, RouteDeps } from './http/deps.js'
import { planned } from './http/views.js'
import { orRefuse, problems } from './problems.js'
import { SCHEDULE_TAGS } from './schedules.js'

export function addScheduleCommands(app: Api, deps: RouteDeps): void {
  addDefinitionCommands(app, deps, {
    noun: SCHEDULE_NOUN,
    label: 'Schedule',
    tags: SCHEDULE_TAGS,
    bodies: SCHEDULE_BODIES,
    about: {
      create: 'It fires from now on, and nothing that lies before. Schedules in code are made by deploying it.',
      change:
        'Another cron or zone holds from now on: what lies before is counted as skipped, and nothing of it runs. The id stays, whatever the name.',
      remove:
        'Its row stays as a tombstone, its ticks and runs as history; its name is free. One in code is removed by deploying without it.',
      pause: 'Its instants are counted as skipped. What runs goes on, and it can be triggered. 409: it is paused already.',
      resume: 'What the pause held back does not run, unless the schedule has catch_up_on_resume. 409: it is active already.',
    },
  })
  addTrigger(app, deps)
}

type Triggered = Omit<ScheduleAccepted, 'accepted_event_id' | 'outcome'> & {
  readonly accepted_event_id: string
  readonly tick_id: string
  readonly scheduled_for: string
  readonly runs: { readonly run_id: string; readonly run_key: string; readonly partition: string | null }[]
}

function addTrigger(app: Api, deps: RouteDeps): void {
  app.post(
    '/schedules/:schedule/trigger',
    {
      schema: {
        tags: SCHEDULE_TAGS,
        headers: idempotencyHeader,
        querystring: scheduleQuery,
        operationId: 'triggerSchedule',
        summary: 'Ask for a tick now',
        description:
          'A tick of its own, and its runs, in one batch: it moves no other tick, and works while the schedule is paused. The same Idempotency-Key is the same tick.',
        params: scheduleParams,
        body: scheduleTriggerAsked,
        response: { 202: scheduleTriggered, ...problems(404, 409, 422) },
      },
    },
    async ({ body, params, query, headers }, reply) => {
      const claim = claimOf({ headers }, 'POST /schedules/{schedule}/trigger', body)
      const now = deps.appender.now()
      const claimed = orRefuse(
        await submitClaimed(deps, claim, requestOf(body, params), async (request_id): Promise<Plan | Problem> => {
          const plan = await planned(deps, async (view) => {
            const found = await SCHEDULE_READS.find(view, params.schedule)
            return isProblem(found) ? found : planScheduleTrigger(deps, found, body, { request_id, now })
          })
          if (isProblem(plan)) return plan
          const { drafts, runs, ...told } = plan
          const shown = runs.map((run) => (deps.ui_url === undefined ? run : { ...run, ui: `${deps.ui_url}/runs/${run.run_id}` }))
          const answerOf: Plan['answerOf'] = ([event]) => ({
            status: 202,
            body: { ...told, runs: shown, accepted_event_id: event?.event_id },
          })
          return { drafts, source: 'servo/api', answerOf }
        }),
      )
      return reply.code(202).send(await waited<Triggered>(deps, claimed, query))
    },
  )
}
