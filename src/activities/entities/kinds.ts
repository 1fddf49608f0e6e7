// The kinds of entities that have loops, and the activity that the loop of each calls. What is done for each of them (pokes after a
// publish, looks after the loops) goes through this list.

import { Context } from '@temporalio/activity'
import type { Scope } from '../../core/ids.js'
import type { ScheduleCall, ScheduleReport } from '../../workflows/contract.js'
import { servedScope } from '../served-scope.js'
import type { EntityKind } from './kind.js'
import { createEntityLook, type LookDeps } from './look.js'
import { SCHEDULE_KIND } from './schedule.js'

/** A function instead of an array, because each kind has an entity of its own type. */
export const everyKind = <Result>(use: <Entity>(kind: EntityKind<Entity, never>) => Result): readonly Result[] => [use(SCHEDULE_KIND)]

export type EntityCallDeps = LookDeps & { readonly scope: Scope }

export function createEntityCalls(deps: EntityCallDeps) {
  const lookAtSchedule = createEntityLook(deps, SCHEDULE_KIND)
  return {
    async scheduleTurn({ schedule_id, commands, ...scope }: ScheduleCall): Promise<ScheduleReport> {
      servedScope(deps, scope)
      return { ...((await lookAtSchedule(schedule_id, commands)) as ScheduleReport), ...callingRun() }
    },
  }
}

/** Of a workflow that was reset, the new run. */
function callingRun(): { readonly run_id?: string } {
  const { workflowExecution } = Context.current().info
  return workflowExecution === undefined ? {} : { run_id: workflowExecution.runId }
}
