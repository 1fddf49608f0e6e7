// From the columns of a schedule, or of a span that it owes, to the instants that they mean.

import { type CronFault, openScheduleTicks, type Ticks } from '../core/cron/schedule-ticks.js'
import type { ScheduleDefinitionRow } from './schedule-table.js'

type Times = Pick<ScheduleDefinitionRow, 'cron_expressions' | 'timezone'>

export const ticksOf = ({ cron_expressions, timezone }: Times): Ticks | CronFault => openScheduleTicks({ cron: cron_expressions, timezone })
