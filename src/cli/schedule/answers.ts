// What the API answers about schedules, by the schemas of its contract.

import type { z } from 'zod'
import type { schedule } from '../../api/contract/schedule.js'
import type { dryRunAnswer, firesAnswer, scheduleTick, scheduleTriggered } from '../../api/contract/schedule-tick.js'

export type Schedule = z.output<typeof schedule>
export type ScheduleTriggered = z.output<typeof scheduleTriggered>
export type ScheduleTick = z.output<typeof scheduleTick>
export type ScheduleFires = z.output<typeof firesAnswer>
export type ScheduleDryRun = z.output<typeof dryRunAnswer>
