// What `import … from 'servo'` gives: how assets, partitions and code locations are written, and the types that such code
// names. Workers and loaders are not among it.

export { type AssetOptions, asset } from './asset.js'
export { type CodeLocation, type CodeLocationOptions, defineCodeLocation } from './code-location.js'
export type { LogFields, Logger, Progress, RunContext, RunPartitions, UpstreamMaterialization } from './context.js'
export type { RetryOptions } from './definition.js'
export type { Asset, Dependency } from './dependency.js'
export { DefinitionError } from './fault.js'
export type { DependencyMapping } from './mapping.js'
export {
  type CronOptions,
  type CronPartitions,
  cronPartitions,
  type DailyOptions,
  type DailyPartitions,
  daily,
  type HourlyOptions,
  type HourlyPartitions,
  hourly,
  type MonthlyOptions,
  type MonthlyPartitions,
  type MultiPartitions,
  monthly,
  multiPartitions,
  type Partitions,
  type StaticPartitions,
  staticPartitions,
  type WeeklyOptions,
  type WeeklyPartitions,
  weekly,
} from './partitions.js'
export type { Materialization, Metadata, RunResult, Skip } from './result.js'
export { lastComplete, type Schedule, type ScheduleOptions, schedule } from './schedule.js'
export type { DimensionKeys, LastComplete } from './schedule-definition.js'
