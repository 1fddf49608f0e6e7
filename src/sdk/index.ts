// What `import … from 'servo'` gives: how assets, partitions and code locations are written, and the types that such code
// names. Workers and loaders are not among it.

export { asset, type AssetOptions } from './asset.js'
export { type CodeLocation, type CodeLocationOptions, defineCodeLocation } from './code-location.js'
export type { LogFields, Logger, Progress, RunContext, RunPartitions, UpstreamMaterialization } from './context.js'
export type { RetryOptions } from './definition.js'
export type { Asset, Dependency } from './dependency.js'
export { DefinitionError } from './fault.js'
export { daily, type DailyOptions, type DailyPartitions, type Partitions, staticPartitions, type StaticPartitions } from './partitions.js'
export { lastComplete, type Schedule, schedule, type ScheduleOptions } from './schedule.js'
export type { DimensionKeys, LastComplete } from './schedule-definition.js'
export type { Materialization, Metadata, RunResult, Skip } from './result.js'
