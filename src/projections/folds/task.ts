// The events of tasks and their attempts.

import type { EventOf } from '../../events/event.js'
import type { TaskEvent } from '../../events/task.js'
import {
  foldAttemptLost,
  foldDispatchEnqueued,
  foldDispatchRequested,
  foldTaskFinished,
  foldTaskHeartbeat,
  foldTaskStarted,
  keysOfAttemptEnd,
  keysOfTask,
} from '../attempt.js'
import type { Hints } from '../hint.js'
import { listsOfTask } from '../partition.js'
import type { KeyedRow } from '../tables.js'
import type { WorkingSet } from '../working-set.js'
import type { Entity, FoldsOf } from './event-fold.js'

type End = EventOf<'TaskFinished' | 'AttemptLost'>

const taskOf = ({ payload }: TaskEvent): Entity => ({ entity_kind: 'TASK', entity_id: `${payload.run_id}/${payload.task_key}` })
const task = {
  entity: taskOf,
  keys: ({ payload }: TaskEvent, rows: WorkingSet): readonly KeyedRow[] => keysOfTask(rows, payload),
  may_name_more: true,
} as const
const end = {
  entity: taskOf,
  keys: ({ payload }: End, rows: WorkingSet, hints: Hints): readonly KeyedRow[] => keysOfAttemptEnd(rows, payload, hints),
  may_name_more: true,
  listsOfRows: ({ payload }: End, rows: WorkingSet): readonly string[] => listsOfTask(rows, payload),
} as const

export const TASK_FOLDS = {
  DispatchRequested: { ...task, fold: foldDispatchRequested },
  DispatchEnqueued: { ...task, fold: foldDispatchEnqueued },
  TaskStarted: { ...task, fold: foldTaskStarted },
  TaskHeartbeat: { ...task, fold: foldTaskHeartbeat, has_no_refusal_row: true },
  TaskFinished: { ...end, fold: foldTaskFinished },
  AttemptLost: { ...end, fold: foldAttemptLost },
} satisfies FoldsOf<TaskEvent>
