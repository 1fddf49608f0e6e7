// Every kind of trigger whose row counts the runs that it asks for.

import type { Moment } from './outcome.js'
import { TICK_TRIGGER } from './schedule-tick.js'
import type { KeyedRow } from './tables.js'
import type { RequestOutcome, RunTrigger, TriggerRow } from './trigger-row.js'
import type { WorkingSet } from './working-set.js'

const TRIGGERS: { readonly [Type in RunTrigger['type']]?: TriggerRow } = { SCHEDULE: TICK_TRIGGER }

export const keysOfTrigger = (trigger: RunTrigger): readonly KeyedRow[] => TRIGGERS[trigger.type]?.keysOf(trigger) ?? []

export const recordRequest = (rows: WorkingSet, trigger: RunTrigger, outcome: RequestOutcome, moment: Moment): void =>
  TRIGGERS[trigger.type]?.record(rows, trigger, outcome, moment)
