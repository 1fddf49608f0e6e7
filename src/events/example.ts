// One example of each event, frozen: a test compares them with test/golden/events. Together they tell one story, from
// a deploy to a finished run; RunCancelRequested, PlanFailed and AttemptLost are other ways in which it could go on.
// Secret, run key and ids are those of DATA section 1.

import { ASSET_DEFINED, ASSET_REMOVED, CODE_LOCATION_DEPLOYED, POOL_DEFINED, POOL_REMOVED } from './example-asset.js'
import { RETENTION_CHANGED } from './example-retention.js'
import { PLAN_CREATED, PLAN_FAILED, RUN_CANCEL_REQUESTED, RUN_REQUESTED } from './example-run.js'
import { SCHEDULE_DEFINED, SCHEDULE_REMOVED, SCHEDULE_STATUS_CHANGED, SCHEDULE_TICKED } from './example-schedule.js'
import { ATTEMPT_LOST, DISPATCH_ENQUEUED, DISPATCH_REQUESTED, TASK_FINISHED, TASK_HEARTBEAT, TASK_STARTED } from './example-task.js'

export const EXAMPLES = {
  CodeLocationDeployed: CODE_LOCATION_DEPLOYED,
  AssetDefined: ASSET_DEFINED,
  AssetRemoved: ASSET_REMOVED,
  PoolDefined: POOL_DEFINED,
  PoolRemoved: POOL_REMOVED,
  RetentionChanged: RETENTION_CHANGED,
  ScheduleDefined: SCHEDULE_DEFINED,
  ScheduleRemoved: SCHEDULE_REMOVED,
  ScheduleStatusChanged: SCHEDULE_STATUS_CHANGED,
  ScheduleTicked: SCHEDULE_TICKED,
  RunRequested: RUN_REQUESTED,
  RunCancelRequested: RUN_CANCEL_REQUESTED,
  PlanCreated: PLAN_CREATED,
  PlanFailed: PLAN_FAILED,
  DispatchRequested: DISPATCH_REQUESTED,
  DispatchEnqueued: DISPATCH_ENQUEUED,
  TaskStarted: TASK_STARTED,
  TaskHeartbeat: TASK_HEARTBEAT,
  TaskFinished: TASK_FINISHED,
  AttemptLost: ATTEMPT_LOST,
} as const

/** The examples that a fold applies, in an order in which it does. */
export const STORY = [
  CODE_LOCATION_DEPLOYED,
  ASSET_DEFINED,
  POOL_DEFINED,
  SCHEDULE_DEFINED,
  SCHEDULE_TICKED,
  RUN_REQUESTED,
  PLAN_CREATED,
  DISPATCH_REQUESTED,
  DISPATCH_ENQUEUED,
  TASK_STARTED,
  TASK_HEARTBEAT,
  TASK_FINISHED,
  SCHEDULE_STATUS_CHANGED,
  ASSET_REMOVED,
  POOL_REMOVED,
  SCHEDULE_REMOVED,
  RETENTION_CHANGED,
] as const
