// Commands on schedules: made, changed, removed, paused, resumed, triggered. Each appends by itself; the next turn folds it.

import type { z } from 'zod'
import type { Claim, Claimed, Plan } from '../commands/claims.js'
import { submitClaimed } from '../commands/claims.js'
import { isProblem, type Problem } from '../commands/problem.js'
import { planScheduleChange, planScheduleCreate, planScheduleRemove, type ScheduleChange } from '../commands/schedule/define.js'
import { planScheduleStatus } from '../commands/schedule/status.js'
import { planScheduleTrigger } from '../commands/schedule/trigger.js'
import type { Draft } from '../events/draft.js'
import type { View } from '../readers/reader.js'
import { idempotencyHeader } from './contract/page.js'
import {
  scheduleAccepted,
  scheduleAsked,
  scheduleParams,
  schedulePatch,
  schedulePut,
  scheduleQuery,
  scheduleRemoved,
  scheduleStatusAsked,
} from './contract/schedule.js'
import { scheduleTriggerAsked, scheduleTriggered } from './contract/schedule-tick.js'
import { claimOf, requestOf, waited } from './http/claimed.js'
import type { Api, RouteDeps } from './http/deps.js'
import { planned } from './http/views.js'
import { orRefuse, problems } from './problems.js'
import { askedDefinition, patched } from './schedule-asked.js'
import { SCHEDULE_TAGS } from './schedules.js'

type Planned = {
  readonly schedule_id: string
  readonly schedule_name: string
  readonly drafts: readonly Draft[]
  readonly warnings?: readonly string[]
}
type Accepted = { readonly schedule_id: string; readonly schedule_name: string; readonly accepted_event_id: string | null }

const COMMON = { tags: SCHEDULE_TAGS, headers: idempotencyHeader, querystring: scheduleQuery }

export function addScheduleCommands(app: Api, deps: RouteDeps): void {
  app.post(
    '/schedules',
    {
      schema: {
        ...COMMON,
        operationId: 'createSchedule',
        summary: 'Make a schedule',
        description: 'It fires from now on, and nothing that lies before. Schedules in code are made by deploying it.',
        body: scheduleAsked,
        response: { 202: scheduleAccepted, ...problems(409, 422) },
      },
    },
    async ({ body, query, headers }, reply) => {
      const { schedule_name, requested_by, reason } = body
      const asked = { schedule_name, requested_by, reason, definition: askedDefinition(body) }
      const claimed = await claimedCommand(deps, claimOf({ headers }, 'POST /schedules', body), requestOf(body), (view, request_id) =>
        planScheduleCreate(view, asked, { request_id, now: deps.appender.now() }),
      )
      return reply.code(202).send(await waited<Accepted>(deps, claimed, query))
    },
  )
  addChanges(app, deps)
  addRemoval(app, deps)
  addStatusCommands(app, deps)
  addTrigger(app, deps)
}

const ABOUT_A_CHANGE =
  'Another cron or zone holds from now on: what lies before is counted as skipped, and nothing of it runs. The id stays, whatever the name.'

function addChanges(app: Api, deps: RouteDeps): void {
  const common = {
    ...COMMON,
    description: ABOUT_A_CHANGE,
    params: scheduleParams,
    response: { 202: scheduleAccepted, ...problems(404, 409, 422) },
  }
  app.route({
    method: 'PUT',
    url: '/schedules/:schedule',
    schema: { ...common, operationId: 'replaceSchedule', summary: 'Define a schedule anew', body: schedulePut },
    handler: async (request, reply) => {
      const definition = askedDefinition(request.body)
      return reply.code(202).send(await changed(deps, 'PUT', request, () => definition))
    },
  })
  app.route({
    method: 'PATCH',
    url: '/schedules/:schedule',
    schema: { ...common, operationId: 'changeSchedule', summary: 'Change a schedule, or its name', body: schedulePatch },
    handler: async (request, reply) => reply.code(202).send(await changed(deps, 'PATCH', request, patched(request.body))),
  })
}

type ChangeRequest = {
  readonly body: z.output<typeof schedulePut> | z.infer<typeof schedulePatch>
  readonly params: z.output<typeof scheduleParams>
  readonly query: z.output<typeof scheduleQuery>
  readonly headers: z.output<typeof idempotencyHeader>
}

/** Of the two, only what becomes of the definition differs. */
async function changed(
  deps: RouteDeps,
  method: 'PUT' | 'PATCH',
  { body, params, query, headers }: ChangeRequest,
  change: ScheduleChange['change'],
): Promise<Accepted> {
  const { schedule_name, expected_definition_version, requested_by, reason } = body
  const asked = { schedule_name, expected_definition_version, requested_by, reason, change }
  const claim = claimOf({ headers }, `${method} /schedules/{schedule}`, body)
  const claimed = await claimedCommand(deps, claim, requestOf(body, params), (view, request_id) =>
    planScheduleChange(view, params.schedule, asked, { request_id, now: deps.appender.now() }),
  )
  return waited<Accepted>(deps, claimed, query)
}

function addRemoval(app: Api, deps: RouteDeps): void {
  app.route({
    method: 'DELETE',
    url: '/schedules/:schedule',
    schema: {
      ...COMMON,
      operationId: 'removeSchedule',
      summary: 'Remove a schedule',
      description:
        'Its row stays as a tombstone, its ticks and runs as history; its name is free. One in code is removed by deploying without it.',
      params: scheduleParams,
      body: scheduleRemoved,
      response: { 202: scheduleAccepted, ...problems(404, 409, 422) },
    },
    handler: async ({ body, params, query, headers }, reply) => {
      const claim = claimOf({ headers }, 'DELETE /schedules/{schedule}', body)
      const claimed = await claimedCommand(deps, claim, requestOf(body, params), (view, request_id) =>
        planScheduleRemove(view, params.schedule, body, request_id),
      )
      return reply.code(202).send(await waited<Accepted>(deps, claimed, query))
    },
  })
}

const STATUS_COMMANDS = [
  {
    verb: 'pause',
    to: 'PAUSED',
    operationId: 'pauseSchedule',
    summary: 'Pause a schedule',
    description: 'Its instants are counted as skipped. What runs goes on, and it can be triggered. 409: it is paused already.',
  },
  {
    verb: 'resume',
    to: 'ACTIVE',
    operationId: 'resumeSchedule',
    summary: 'Resume a schedule',
    description: 'What the pause held back does not run, unless the schedule has catch_up_on_resume. 409: it is active already.',
  },
] as const

function addStatusCommands(app: Api, deps: RouteDeps): void {
  for (const { verb, to, ...told } of STATUS_COMMANDS) {
    app.route({
      method: 'POST',
      url: `/schedules/:schedule/${verb}`,
      schema: {
        ...COMMON,
        ...told,
        params: scheduleParams,
        body: scheduleStatusAsked,
        response: { 202: scheduleAccepted, ...problems(404, 409, 422) },
      },
      handler: async ({ body, params, query, headers }, reply) => {
        const claim = claimOf({ headers }, `POST /schedules/{schedule}/${verb}`, body)
        const claimed = await claimedCommand(deps, claim, requestOf(body, params), (view, request_id) =>
          planScheduleStatus(view, params.schedule, { ...body, to }, request_id),
        )
        return reply.code(202).send(await waited<Accepted>(deps, claimed, query))
      },
    })
  }
}

type Triggered = Omit<Accepted, 'accepted_event_id'> & {
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
        ...COMMON,
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
          const plan = await planned(deps, (view) => planScheduleTrigger(deps, view, params.schedule, body, { request_id, now }))
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

/** Planned on the newest revision, claimed, appended. */
async function claimedCommand(
  deps: RouteDeps,
  claim: Claim | undefined,
  request: object,
  plan: (view: View | undefined, request_id: string) => Promise<Planned | Problem>,
): Promise<Claimed> {
  return orRefuse(
    await submitClaimed(deps, claim, request, async (request_id): Promise<Plan | Problem> => {
      const made = await planned(deps, (view) => plan(view, request_id))
      if (isProblem(made)) return made
      const { drafts, schedule_id, schedule_name, warnings = [] } = made
      const told = { schedule_id, schedule_name, ...(warnings.length === 0 ? {} : { warnings }) }
      return {
        drafts,
        source: 'servo/api',
        answerOf: ([event]) => ({ status: 202, body: { ...told, accepted_event_id: event?.event_id ?? null } }),
      }
    }),
  )
}
