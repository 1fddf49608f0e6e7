// What the API answers, as types: taken from the schemas that it is checked against, so that no field has two spellings.

import type { z } from 'zod'
import type { asset, assetGraph, assetSummary } from '../api/contract/asset.js'
import type { attempt } from '../api/contract/attempt.js'
import type { codeLocation, deployAnswer, deployAsked } from '../api/contract/code-location.js'
import type { runKeyConflict } from '../api/contract/conflict.js'
import type { outcome } from '../api/contract/outcome.js'
import type { pool, poolAccepted } from '../api/contract/pool.js'
import type { retention, retentionAccepted, retentionEffect } from '../api/contract/retention.js'
import type {
  cancelAccepted,
  cancelManyAccepted,
  logPage,
  rerunAsked,
  run,
  runAccepted,
  runAsked,
  runPage,
  task,
  taskPage,
  timelineEntry,
} from '../api/contract/run.js'
import type { taskWhy } from '../api/contract/why.js'

export type Run = z.output<typeof run>
export type RunPage = z.output<typeof runPage>
export type RunAsked = z.input<typeof runAsked>
export type RerunAsked = z.input<typeof rerunAsked>
export type RunAccepted = z.output<typeof runAccepted>
export type CancelAccepted = z.output<typeof cancelAccepted>
export type CancelManyAccepted = z.output<typeof cancelManyAccepted>
export type Task = z.output<typeof task>
export type TaskPage = z.output<typeof taskPage>
export type Attempt = z.output<typeof attempt>
export type TaskWhy = z.output<typeof taskWhy>
export type TimelineEntry = z.output<typeof timelineEntry>
export type LogPage = z.output<typeof logPage>
export type LogLine = LogPage['lines'][number]

export type Asset = z.output<typeof asset>
export type AssetSummary = z.output<typeof assetSummary>
export type AssetGraph = z.output<typeof assetGraph>

export type CodeLocation = z.output<typeof codeLocation>
export type DeployAsked = z.input<typeof deployAsked>
export type DeployAnswer = z.output<typeof deployAnswer>

export type Pool = z.output<typeof pool>
export type PoolAccepted = z.output<typeof poolAccepted>

export type Retention = z.output<typeof retention>
export type RetentionAccepted = z.output<typeof retentionAccepted>
export type RetentionEffect = z.output<typeof retentionEffect>

export type RunKeyConflict = z.output<typeof runKeyConflict>
export type Outcome = z.output<typeof outcome>
