// Who goes first where there is not room for all.

import { PRIORITY_POINT_MS } from '../core/limits.js'
import { compareText } from '../core/order.js'
import type { TaskRow } from './run-table.js'

type TaskPlace = Pick<TaskRow, 'priority' | 'ready_at' | 'run_id' | 'task_index'>

/** Priority, then age, and a point of priority is worth a minute of it: what becomes ready later than its priority is higher
 *  goes behind, so nothing waits for ever. A task keeps its age when it is tried again, whatever ended the attempt before:
 *  it has waited, and the rest of its run waits for it. Attempts are bounded, so this lets nobody starve either. */
export const inDispatchOrder = (left: TaskPlace, right: TaskPlace): number =>
  placeInTime(left) - placeInTime(right) ||
  right.priority - left.priority ||
  compareText(left.run_id, right.run_id) ||
  left.task_index - right.task_index

/** Epoch milliseconds, the lower the sooner: workers order those by it that they keep until a slot is free. */
export const placeInTime = ({ ready_at, priority }: Pick<TaskPlace, 'ready_at' | 'priority'>): number =>
  (ready_at ?? 0) - priority * PRIORITY_POINT_MS

/** Its turn has come, if there is room. */
export const isDue = ({ state, retry_at }: Pick<TaskRow, 'state' | 'retry_at'>, now: number): boolean =>
  state === 'READY' || (state === 'RETRY_WAIT' && retry_at !== null && retry_at <= now)
