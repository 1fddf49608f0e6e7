// The examples of all events tell one story, from a deploy to a finished run. Secret, run key and ids are those of DATA section 1.

import { type EventType, exampleOf } from './event.js'

/** The events that a fold applies, in an order in which it does. The others are ways in which the story could go on. */
const TYPES = [
  'CodeLocationDeployed',
  'AssetDefined',
  'PoolDefined',
  'ScheduleDefined',
  'ScheduleTicked',
  'RunRequested',
  'PlanCreated',
  'DispatchRequested',
  'DispatchEnqueued',
  'TaskStarted',
  'TaskHeartbeat',
  'TaskFinished',
  'ScheduleStatusChanged',
  'AssetRemoved',
  'PoolRemoved',
  'ScheduleRemoved',
  'RetentionChanged',
] as const satisfies readonly EventType[]

export const STORY = TYPES.map((event_type) => exampleOf(event_type))
