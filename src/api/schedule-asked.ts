// From the bodies of requests to definitions of schedules: what is not part of a definition is left behind. Pure.

import type { z } from 'zod'
import type { ScheduleDefinition } from '../events/schedule-definition.js'
import type { scheduleAsked, schedulePatch } from './contract/schedule.js'

type Asked = Omit<z.output<typeof scheduleAsked>, 'schedule_name'>

export const askedDefinition = (asked: Asked): ScheduleDefinition => ({
  cron_expressions: asked.cron_expressions,
  timezone: asked.timezone,
  asset_selection: asked.asset_selection,
  ...(asked.partition_mapping === undefined ? {} : { partition_mapping: asked.partition_mapping }),
  catchup_window_minutes: asked.catchup_window_minutes,
  max_catchup_ticks: asked.max_catchup_ticks,
  catch_up_on_resume: asked.catch_up_on_resume,
  overlap_policy: asked.overlap_policy,
  ...(asked.tags === undefined ? {} : { tags: asked.tags }),
  ...(asked.priority === undefined ? {} : { priority: asked.priority }),
  ...(asked.description === undefined ? {} : { description: asked.description }),
  default_status: asked.default_status,
})

const MEMBERS = [
  'cron_expressions',
  'timezone',
  'asset_selection',
  'partition_mapping',
  'catchup_window_minutes',
  'max_catchup_ticks',
  'catch_up_on_resume',
  'overlap_policy',
  'tags',
  'priority',
  'description',
] as const

/** Members that are left out stay, and those that are null go. */
export const patched =
  (patch: z.output<typeof schedulePatch>) =>
  (before: ScheduleDefinition): ScheduleDefinition => {
    const changed = new Map<string, unknown>(Object.entries(before))
    for (const member of MEMBERS) {
      const value = patch[member]
      if (value === null) changed.delete(member)
      else if (value !== undefined) changed.set(member, value)
    }
    // Only members that may be left out can be null.
    return Object.fromEntries(changed) as ScheduleDefinition
  }
