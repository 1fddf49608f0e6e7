// An asset: what it is called, what it is made from, and the code that makes it. A wrong one is refused when it is made,
// with everything that is wrong about it.

import { canonicalBytes } from '../core/canonical.js'
import {
  COUNT_MAX,
  DEFINITION_BYTES_MAX,
  DURATION_SECONDS_MAX,
  PRIORITY_MAX,
  PRIORITY_MIN,
  RETRY_FACTOR_MAX,
  TASK_PARTITIONS_MAX,
  TIMEOUT_SECONDS_MIN,
} from '../core/limits.js'
import type { RunContext } from './context.js'
import { buildDefinition, type Policy } from './definition.js'
import {
  ASSET,
  type Asset,
  type Dependency,
  dependencyFaults,
  dependencyKey,
  type KeyOf,
  type Run,
  writtenDependency,
} from './dependency.js'
import { DefinitionError, shown } from './fault.js'
import {
  type Faults,
  functionOf,
  idOf,
  isObject,
  listOf,
  type Members,
  memberFaults,
  namesOf,
  numberFrom,
  type Shape,
  shaped,
  tags,
  text,
  wholeFrom,
} from './member.js'
import { type Partitions, partitionsFaults } from './partitions.js'
import type { RunResult } from './result.js'

export type AssetOptions<Key extends string, Dependencies extends readonly Dependency[], P extends Partitions | undefined> = Policy & {
  readonly key: Key
  readonly deps: Dependencies
  readonly partitions?: P
  readonly run: (context: RunContext<KeyOf<Dependencies[number]>, P>) => RunResult | Promise<RunResult>
}

const seconds = numberFrom(0, DURATION_SECONDS_MAX, ' of seconds')
const timeout = numberFrom(TIMEOUT_SECONDS_MIN, DURATION_SECONDS_MAX, ' of seconds')

const RETRY: Shape = {
  required: {},
  optional: {
    max_attempts: wholeFrom(1, COUNT_MAX),
    max_infra_losses: wholeFrom(0, COUNT_MAX),
    backoff_seconds: seconds,
    factor: numberFrom(1, RETRY_FACTOR_MAX, ''),
    max_backoff_seconds: seconds,
    jitter: numberFrom(0, 1, ''),
  },
}

const POLICY: Readonly<Record<keyof Policy, Shape['optional'][string]>> = {
  code_version: text,
  description: text,
  group: idOf('text'),
  tags,
  owners: listOf(idOf('text'), 'texts, such as ["team-core"]'),
  retry: shaped(RETRY, 'an object such as {"max_attempts": 3, "backoff_seconds": 30}'),
  start_timeout_seconds: timeout,
  heartbeat_timeout_seconds: timeout,
  timeout_seconds: timeout,
  cancel_grace_seconds: seconds,
  priority: wholeFrom(PRIORITY_MIN, PRIORITY_MAX),
  pools: namesOf(idOf('name'), 'pool names'),
  partitions_per_task: wholeFrom(1, TASK_PARTITIONS_MAX),
}

const SHAPE: Shape = {
  required: { key: idOf('asset_key'), deps: dependencyFaults, run: functionOf('async (context) => ({ row_count: 3 })') },
  optional: { ...POLICY, partitions: partitionsFaults },
  later: {
    freshness:
      'cannot be given yet: this version of Servo does not watch how old an asset is. Remove it, and a schedule can take its place.',
  },
}

/** `asset({ key: 'raw.events', deps: [], run: async ({ logger }) => ({ row_count: 3 }) })` */
export function asset<
  const Key extends string,
  const Dependencies extends readonly Dependency[],
  const P extends Partitions | undefined = undefined,
>(options: AssetOptions<Key, Dependencies, P>): Asset<Key> {
  const faults = isObject(options) ? optionFaults(options) : [`Its options are ${shown(options)}. Give it an object.`]
  if (faults.length > 0) throw new DefinitionError(nameOf(options), faults)
  const { key, deps, partitions, run } = options
  const definition = buildDefinition({ key, deps: deps.map(writtenDependency), partitions, policy: policyIn(options) })
  const bytes = canonicalBytes(definition)
  if (bytes > DEFINITION_BYTES_MAX) {
    throw new DefinitionError(nameOf(options), [
      `It has ${bytes} bytes of JSON, and ${DEFINITION_BYTES_MAX} is the most. Shorten what is long, such as a list of partitions.`,
    ])
  }
  // The worker hands a context whose upstream has these very dependencies, and whose partitions are of this kind.
  return Object.freeze({ [ASSET]: true as const, key, definition, run: run as unknown as Run })
}

function optionFaults(options: Members): Faults {
  const faults = memberFaults(options, SHAPE)
  const { key, deps, partitions, partitions_per_task } = options
  const isOwn = Array.isArray(deps) && typeof key === 'string' && deps.some((each) => dependencyKey(each) === key)
  const more = [
    ...(isOwn ? [`deps has "${key}", which is the asset itself. Remove it: what an asset was before is no dependency.`] : []),
    ...(partitions_per_task !== undefined && partitions === undefined
      ? ['partitions_per_task is given, and partitions are not. Give partitions, or remove it.']
      : []),
  ]
  return [...faults, ...more]
}

function policyIn(options: Policy): Policy {
  const names = Object.keys(POLICY) as (keyof Policy)[]
  return Object.fromEntries(names.map((name) => [name, options[name]]))
}

const nameOf = (options: unknown): string =>
  isObject(options) && typeof options.key === 'string' ? `asset ${shown(options.key)}` : 'asset(…)'
