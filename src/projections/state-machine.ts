// Which states follow which (DATA section 4). What is not listed here is refused, and what is over keeps its state.

import type { AssetDefinitionRow } from './asset-table.js'
import type { DispatchOutboxRow, RunRow, TaskRow } from './run-table.js'
import type { ScheduleStatus } from './schedule-table.js'

export type TaskState = TaskRow['state']
export type RunState = RunRow['state']
type OutboxStatus = DispatchOutboxRow['status']
type DefinitionState = AssetDefinitionRow['state']

export type OverState = 'SUCCEEDED' | 'FAILED' | 'SKIPPED' | 'CANCELLED'

export const isOver = (state: string): state is OverState =>
  state === 'SUCCEEDED' || state === 'FAILED' || state === 'SKIPPED' || state === 'CANCELLED'

/** An attempt is with a worker, or on its way to one: it counts in its pools, and only its facts are taken. */
export const isActive = (state: TaskState): boolean => state === 'DISPATCHED' || state === 'RUNNING'

type Transition<State extends string, Cause extends string> = {
  readonly from: readonly State[]
  readonly by: Cause
  readonly to: readonly State[]
}

/** For each cause and state the states that may follow. */
export type Machine<State extends string, Cause extends string> = ReadonlyMap<Cause, ReadonlyMap<State, readonly State[]>>

const ACTIVE = ['DISPATCHED', 'RUNNING'] as const

export const TASK_MACHINE = machineOf([
  { from: ['PLANNED'], by: 'PLANNED_WHOLE', to: ['READY', 'BLOCKED'] },
  { from: ['BLOCKED'], by: 'UPSTREAM_SUCCEEDED', to: ['READY'] },
  { from: ['BLOCKED'], by: 'UPSTREAM_FAILED', to: ['SKIPPED'] },
  { from: ['BLOCKED'], by: 'UPSTREAM_SKIPPED', to: ['SKIPPED'] },
  { from: ['BLOCKED'], by: 'UPSTREAM_CANCELLED', to: ['CANCELLED'] },
  { from: ['BLOCKED', 'READY', 'RETRY_WAIT'], by: 'RUN_CANCELLED', to: ['CANCELLED'] },
  { from: ['READY', 'RETRY_WAIT'], by: 'DISPATCHED', to: ['DISPATCHED'] },
  { from: ['DISPATCHED'], by: 'STARTED', to: ['RUNNING'] },
  { from: ACTIVE, by: 'FINISHED_SUCCEEDED', to: ['SUCCEEDED'] },
  { from: ACTIVE, by: 'FINISHED_SKIPPED', to: ['SKIPPED'] },
  { from: ACTIVE, by: 'FINISHED_CANCELLED', to: ['CANCELLED'] },
  // CANCELLED: the run was asked to cancel, and nothing is tried again.
  { from: ACTIVE, by: 'FINISHED_FAILED', to: ['RETRY_WAIT', 'FAILED', 'CANCELLED'] },
  { from: ACTIVE, by: 'LOST_TIMEOUT', to: ['RETRY_WAIT', 'FAILED', 'CANCELLED'] },
  { from: ACTIVE, by: 'LOST_START_DEADLINE', to: ['RETRY_WAIT', 'FAILED', 'CANCELLED'] },
  { from: ACTIVE, by: 'LOST_HEARTBEAT', to: ['RETRY_WAIT', 'FAILED', 'CANCELLED'] },
  { from: ACTIVE, by: 'LOST_HANDOVER_REFUSED', to: ['RETRY_WAIT', 'FAILED', 'CANCELLED'] },
  { from: ACTIVE, by: 'LOST_CANCEL_GRACE', to: ['CANCELLED'] },
] as const satisfies readonly Transition<TaskState, string>[])

export const RUN_MACHINE = machineOf([
  { from: ['PENDING'], by: 'PLANNED_WHOLE', to: ['PLANNED'] },
  { from: ['PENDING'], by: 'PLAN_FAILED', to: ['FAILED'] },
  { from: ['PENDING'], by: 'CANCEL_REQUESTED', to: ['CANCELLED'] },
  { from: ['PLANNED', 'RUNNING'], by: 'CANCEL_REQUESTED', to: ['CANCELLING'] },
  // A second request changes nothing, and is no mistake of who made it.
  { from: ['CANCELLING'], by: 'CANCEL_REQUESTED', to: ['CANCELLING'] },
  { from: ['PLANNED'], by: 'TASK_STARTED', to: ['RUNNING'] },
  { from: ['PLANNED', 'RUNNING', 'CANCELLING'], by: 'LAST_TASK_OVER', to: ['SUCCEEDED', 'FAILED', 'CANCELLED'] },
] as const satisfies readonly Transition<RunState, string>[])

export const OUTBOX_MACHINE = machineOf([
  { from: ['PENDING'], by: 'ENQUEUED', to: ['ACKED'] },
  { from: ['PENDING', 'ACKED'], by: 'STARTED', to: ['CLOSED'] },
  { from: ['PENDING', 'ACKED'], by: 'FINISHED', to: ['CLOSED'] },
  { from: ['PENDING', 'ACKED'], by: 'LOST', to: ['CLOSED'] },
  { from: ['PENDING', 'ACKED'], by: 'HANDOVER_REFUSED', to: ['FAILED'] },
] as const satisfies readonly Transition<OutboxStatus, string>[])

export const DEFINITION_MACHINE = machineOf([
  { from: ['SUPERSEDED', 'REMOVED'], by: 'DEFINED', to: ['CURRENT'] },
  { from: ['CURRENT'], by: 'OTHER_DEFINED', to: ['SUPERSEDED'] },
  { from: ['CURRENT'], by: 'REMOVED', to: ['REMOVED'] },
] as const satisfies readonly Transition<DefinitionState, string>[])

export const SCHEDULE_MACHINE = machineOf([
  { from: ['ACTIVE'], by: 'PAUSED', to: ['PAUSED'] },
  { from: ['PAUSED'], by: 'RESUMED', to: ['ACTIVE'] },
  { from: ['ACTIVE', 'PAUSED'], by: 'REMOVED', to: ['REMOVED'] },
] as const satisfies readonly Transition<ScheduleStatus, string>[])

type CauseOf<M> = M extends ReadonlyMap<infer Cause, unknown> ? Cause : never
export type TaskCause = CauseOf<typeof TASK_MACHINE>
export type RunCause = CauseOf<typeof RUN_MACHINE>
export type OutboxCause = CauseOf<typeof OUTBOX_MACHINE>
export type ScheduleCause = CauseOf<typeof SCHEDULE_MACHINE>

export const nextStates = <State extends string, Cause extends string>(
  machine: Machine<State, Cause>,
  from: State,
  by: Cause,
): readonly State[] => machine.get(by)?.get(from) ?? NONE

const NONE: readonly never[] = []

function machineOf<const T extends Transition<string, string>>(
  transitions: readonly T[],
): Machine<T['from'][number] | T['to'][number], T['by']> {
  type State = T['from'][number] | T['to'][number]
  const machine = new Map<T['by'], Map<State, readonly State[]>>()
  for (const { from, by, to } of transitions) {
    const byState = machine.get(by) ?? new Map<State, readonly State[]>()
    for (const state of from) byState.set(state, to)
    machine.set(by, byState)
  }
  return machine
}
