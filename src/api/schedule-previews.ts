// What schedules are going to do: the next instants of one, or of a cron that is none yet, and what a tick would decide.
// Nothing of it is kept.

import { previewSchedule } from '../commands/preview/schedule.js'
import { problem } from '../commands/problem.js'
import { cronWarnings, firstTicks, openScheduleTicks } from '../core/cron/schedule-ticks.js'
import { instantMs, instantText } from '../core/time.js'
import { fireAt, nextFireOf } from '../readers/schedule-document.js'
import { SCHEDULE_READS } from '../readers/schedules.js'
import { scheduleParams } from './contract/schedule.js'
import { cronPreviewQuery, dryRunAnswer, dryRunQuery, firesAnswer, previewQuery } from './contract/schedule-tick.js'
import type { Api, RouteDeps } from './http/deps.js'
import { viewFor } from './http/views.js'
import { orRefuse, problems, RefusedError } from './problems.js'
import { SCHEDULE_TAGS } from './schedules.js'

export function addSchedulePreviews(app: Api, deps: RouteDeps): void {
  app.get(
    '/cron-preview',
    {
      schema: {
        operationId: 'previewCron',
        tags: SCHEDULE_TAGS,
        summary: 'The next instants of a cron, or of several as one schedule',
        querystring: cronPreviewQuery,
        response: { 200: firesAnswer, ...problems() },
      },
    },
    async ({ query }, reply) => {
      const { cron, timezone, from, count } = query
      return reply
        .code(200)
        .send({ ...firesOf({ cron, timezone }, from === undefined ? deps.clock.now() : instantMs(from), count), status: null })
    },
  )
  app.get(
    '/schedules/:schedule/preview',
    {
      schema: {
        operationId: 'previewSchedule',
        tags: SCHEDULE_TAGS,
        summary: 'The next instants of a schedule, paused or not',
        params: scheduleParams,
        querystring: previewQuery,
        response: { 200: firesAnswer, ...problems(404) },
      },
    },
    async (request, reply) => {
      const { from, count } = request.query
      const view = await viewFor(deps, request.query, reply)
      const { definition, state } = orRefuse(await SCHEDULE_READS.find(view, request.params.schedule))
      const { cron_expressions: cron, timezone } = definition
      const fires = firesOf({ cron, timezone }, from === undefined ? deps.clock.now() : instantMs(from), count)
      return reply.code(200).send({ ...fires, status: state.status })
    },
  )
  addDryRun(app, deps)
}

type CronInZone = { readonly cron: readonly string[]; readonly timezone: string }

function firesOf({ cron, timezone }: CronInZone, from_ms: number, count: number) {
  const ticks = openScheduleTicks({ cron, timezone })
  if ('problem' in ticks) throw new RefusedError(problem('bad-input', ticks.problem))
  return { timezone, fires: firstTicks(ticks, from_ms, count).map((at_ms) => fireAt(at_ms, timezone)), warnings: [...cronWarnings(cron)] }
}

function addDryRun(app: Api, deps: RouteDeps): void {
  app.get(
    '/schedules/:schedule/dry-run',
    {
      schema: {
        operationId: 'dryRunSchedule',
        tags: SCHEDULE_TAGS,
        summary: 'What the schedule would decide at an instant, if nothing else happened until then',
        description:
          'By the definitions of now, as the controller decides: which instants run, for which partitions, and which are skipped.',
        params: scheduleParams,
        querystring: dryRunQuery,
        response: { 200: dryRunAnswer, ...problems(404) },
      },
    },
    async (request, reply) => {
      const { view, ...schedule } = orRefuse(await SCHEDULE_READS.find(await viewFor(deps, request.query, reply), request.params.schedule))
      const at_ms = request.query.at === undefined ? deps.clock.now() : instantMs(request.query.at)
      const { decisions, held_count } = await previewSchedule(view, schedule, at_ms)
      const { schedule_id, schedule_name, timezone } = schedule.definition
      return reply.code(200).send({
        schedule_id,
        schedule_name,
        status: schedule.state.status,
        timezone,
        at: instantText(at_ms),
        ticks: decisions.flatMap(({ ticks }) =>
          ticks.map(({ at_ms: tick_ms, asset_keys, run_keys, ...tick }) => ({
            ...tick,
            ...fireAt(tick_ms, timezone),
            asset_keys: [...asset_keys],
            run_keys: [...run_keys],
          })),
        ),
        skipped: decisions.flatMap(({ skipped }) =>
          skipped === null
            ? []
            : [
                {
                  skipped_count: skipped.count,
                  first_scheduled_for: instantText(skipped.first_ms),
                  last_scheduled_for: instantText(skipped.last_ms),
                  skip_reasons: { ...skipped.reasons },
                  active_run_id: skipped.active_run_id,
                },
              ],
        ),
        held_count,
        next_fire: nextFireOf(schedule, at_ms),
      })
    },
  )
}
