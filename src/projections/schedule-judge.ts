// Definitions and removals of schedules, judged before any part of their batch is folded: each by what the parts before it
// will have made of names and schedules.

import type { EventOf } from '../events/event.js'
import type { DeployJudge } from './folds/event-fold.js'
import { type Refusal, refusal } from './outcome.js'
import { judgeScheduleDefined, type KnownSchedule, type ScheduleSource, scheduleSourceOf } from './schedule.js'
import type { WorkingSet } from './working-set.js'

export function scheduleJudge(rows: WorkingSet): ReturnType<DeployJudge> {
  const before = scheduleSourceOf(rows)
  const schedules = new Map<string, KnownSchedule>()
  /** undefined: released by an earlier part. */
  const holders = new Map<string, string | undefined>()
  const source: ScheduleSource = {
    schedule: (schedule_id) => schedules.get(schedule_id) ?? before.schedule(schedule_id),
    holderOf: (schedule_name) => (holders.has(schedule_name) ? holders.get(schedule_name) : before.holderOf(schedule_name)),
  }

  function define(event: EventOf<'ScheduleDefined'>): Refusal | undefined {
    const refused = judgeScheduleDefined(source, event)
    if (refused !== undefined) return refused
    const { schedule_id, schedule_name, location_name, definition } = event.payload
    const known = source.schedule(schedule_id)
    if (known !== undefined && known.schedule_name !== schedule_name) holders.set(known.schedule_name, undefined)
    holders.set(schedule_name, schedule_id)
    schedules.set(schedule_id, {
      schedule_name,
      location_name: location_name ?? null,
      definition_version: (known?.definition_version ?? 0) + 1,
      status: known?.status ?? definition.default_status,
      owed: known?.owed ?? [],
    })
    return undefined
  }

  function remove({ payload: { schedule_id } }: EventOf<'ScheduleRemoved'>): Refusal | undefined {
    const known = source.schedule(schedule_id)
    if (known === undefined) return refusal('UNKNOWN_ENTITY', { schedule_id })
    if (known.status === 'REMOVED') return refusal('TERMINAL', { schedule_id, status: known.status })
    holders.set(known.schedule_name, undefined)
    schedules.set(schedule_id, { ...known, status: 'REMOVED' })
    return undefined
  }

  return {
    judge(event) {
      if (event.event_type === 'ScheduleDefined') return define(event)
      return event.event_type === 'ScheduleRemoved' ? remove(event) : undefined
    },
  }
}
