// What the SDK takes, a deploy can say: its checks are its own (it may not import src/events), so they are compared.

import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { DURATION_SECONDS_MAX, PRIORITY_MAX, PRIORITY_MIN, RETRY_FACTOR_MAX, TASK_PARTITIONS_MAX } from '../../src/core/limits.js'
import { ASSET_DEFINED } from '../../src/events/asset.js'
import { asset } from '../../src/sdk/asset.js'
import { describeAsset } from '../../src/sdk/definition.js'
import { DefinitionError } from '../../src/sdk/fault.js'

const SEED = 20_250_115
const RUNS = 3_000

const often = (...values: readonly unknown[]) => fc.constantFrom<unknown>(undefined, ...values)
const around = (min: number, max: number) => often(min - 1, min, min + 0.5, max, max + 1, Number.NaN, Number.POSITIVE_INFINITY, null, '1')
const words = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', 'a', 'raw.events', 'a b', '\ud800', 'x'.repeat(300)),
)
const few = { minLength: 0, maxLength: 3 }
const seconds = around(0, DURATION_SECONDS_MAX)

/** One or two members that may be wrong beside a key that is right: more, and hardly any asset would be taken. */
const MEMBERS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  key: words,
  deps: fc.array(
    fc.oneof(
      words,
      words.map((named) => ({ asset: named })),
    ),
    few,
  ),
  code_version: fc.oneof(words, often(2)),
  description: words,
  group: words,
  tags: fc.oneof(fc.dictionary(words, words, { maxKeys: 3 }), often('a', [], { a: 1 })),
  owners: fc.array(words, few),
  pools: fc.array(words, few),
  priority: around(PRIORITY_MIN, PRIORITY_MAX),
  start_timeout_seconds: seconds,
  heartbeat_timeout_seconds: seconds,
  timeout_seconds: seconds,
  cancel_grace_seconds: seconds,
  retry: fc.record({
    max_attempts: around(1, 2 ** 31 - 1),
    max_infra_losses: around(0, 2 ** 31 - 1),
    backoff_seconds: fc.oneof(fc.constant(1), seconds),
    factor: fc.oneof(fc.constant(1), around(1, RETRY_FACTOR_MAX)),
    max_backoff_seconds: fc.oneof(fc.constant(1), seconds),
    jitter: often(0, 1),
  }),
  partitions: often(
    { type: 'static', keys: ['a'] },
    { type: 'static', keys: ['\ud800'] },
    { type: 'daily', start_date: '2025-01-01' },
    { type: 'daily', start_date: '2025-01-01', timezone: 'Nowhere', hour_offset: 3 },
    { type: 'daily', start_date: '2025-01-01', end_offset: 1, exclusions: ['2025-01-02'] },
    { type: 'hourly', start_date: '2025-01-01', minute_offset: 60 },
    { type: 'weekly', start_date: '2025-01-01', day_offset: 6 },
    { type: 'monthly', start_date: '2025-01', fmt: '%Y-%m', day_offset: 31 },
    { type: 'cron', start: '2025-01-01', cron_schedule: '0 6 * * 1-5', exclusions: ['0 6 * * 3'] },
    { type: 'multi', dimensions: { date: { type: 'daily', start_date: '2025-01-01' }, region: { type: 'static', keys: ['us'] } } },
    { type: 'multi', dimensions: { 'a b': { type: 'static', keys: ['us'] } } },
    { type: 'dynamic', name: 'customers' },
  ),
  partitions_per_task: around(1, TASK_PARTITIONS_MAX),
}

const names = Object.keys(MEMBERS)
const options = fc.subarray(names, { minLength: 1, maxLength: 2 }).chain((chosen) => {
  const arbitraries = chosen.map((name) => (MEMBERS[name] as fc.Arbitrary<unknown>).map((value) => [name, value] as const))
  return fc.tuple(...arbitraries).map((members) => Object.fromEntries(members))
})

function definitionOf(given: Readonly<Record<string, unknown>>) {
  try {
    return describeAsset(asset({ key: 'a', deps: [], run: () => undefined, ...given } as Parameters<typeof asset>[0]))
  } catch (error) {
    if (error instanceof DefinitionError) return undefined
    throw error
  }
}

const saysDeploy = (payload: object): boolean =>
  ASSET_DEFINED.payload.safeParse({ location_name: 'a', requested_by: 'a', ...payload }).success

test('every asset that is taken is one that a deploy can say', () => {
  let taken = 0
  const parameters = { seed: SEED, numRuns: RUNS }
  fc.assert(
    fc.property(options, (given) => {
      const described = definitionOf(given)
      if (described !== undefined) taken++
      return described === undefined || saysDeploy(described)
    }),
    parameters,
  )
  // Were most refused, nothing would be proved.
  expect(taken).toBeGreaterThan(RUNS / 10)
  expect(RUNS - taken).toBeGreaterThan(RUNS / 10)
})

test('what the comparison would find is found: the event refuses what no asset may have', () => {
  const described = definitionOf({}) as object & { definition: object }
  expect(saysDeploy(described)).toBe(true)
  expect(saysDeploy({ ...described, definition: { ...described.definition, priority: 101 } })).toBe(false)
})
