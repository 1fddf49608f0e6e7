// What `import … from 'servo'` gives: how assets, partitions and code locations are written, and the types that such code
// names. Workers and loaders are not among it.

export { asset, type AssetOptions } from './asset.js'
export { type CodeLocation, type CodeLocationOptions, defineCodeLocation } from './code-location.js'
export type { LogFields, Logger, Progress, RunContext, RunPartitions, UpstreamMaterialization } from './context.js'
export type { RetryOptions } from './definition.js'
export type { Asset, Dependency } from './dependency.js'
export { DefinitionError } from './fault.js'
export {
  type CronOptions,
  type CronPartitions,
  cronPartitions,
  daily,
  type DailyOptions,
  type DailyPartitions,
  hourly,
  type HourlyOptions,
  type HourlyPartitions,
  monthly,
  type MonthlyOptions,
  type MonthlyPartitions,
  type MultiPartitions,
  multiPartitions,
  type Partitions,
  staticPartitions,
  type StaticPartitions,
  weekly,
  type WeeklyOptions,
  type WeeklyPartitions,
} from './partitions.js'
export { lastComplete, type Schedule, schedule, type ScheduleOptions } from './schedule.js'
export type { DimensionKeys, LastComplete } from './schedule-definition.js'
export type { Materialization, Metadata, RunResult, Skip } from './result.js'
