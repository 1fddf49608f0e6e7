import { describe, expect, test } from '@jest/globals'
import { asset } from './asset.js'
import { DefinitionError } from './fault.js'
import { daily, staticPartitions } from './partitions.js'

const run = () => ({ row_count: 3 })
const valid = { key: 'raw.events', deps: [], run }

/** What JavaScript, or a cast, may hand over. */
const faultsOf = (options: unknown): readonly string[] => {
  try {
    asset(options as Parameters<typeof asset>[0])
  } catch (error) {
    if (error instanceof DefinitionError) return error.faults
    throw error
  }
  return []
}

test('every member lands in the definition, and run does not', () => {
  const policy = {
    code_version: '2',
    description: 'One row a day.',
    group: 'core',
    tags: { team: 'core' },
    owners: ['team-core'],
    retry: { max_attempts: 3, backoff_seconds: 10, factor: 1, jitter: 0, max_infra_losses: 2, max_backoff_seconds: 60 },
    start_timeout_seconds: 60,
    heartbeat_timeout_seconds: 30,
    timeout_seconds: 600,
    priority: -5,
    partitions_per_task: 10,
  }
  const partitions = daily({ start_date: '2025-01-01', timezone: 'Europe/Berlin' })
  const made = asset({ ...policy, key: 'a', deps: ['c', 'b'], pools: ['y', 'x'], partitions, run })
  expect(made.definition).toEqual({
    ...policy,
    asset_key: 'a',
    deps: [{ asset_key: 'b' }, { asset_key: 'c' }],
    pools: ['x', 'y'],
    partitions,
  })
  expect(made.run).toBe(run)
  expect(made.key).toBe('a')
})

test('dependencies are keys, assets, or objects that name either', () => {
  const events = asset(valid)
  const made = asset({
    ...valid,
    key: 'b',
    deps: [events, 'raw.users', { asset: 'raw.days', mapping: { type: 'identity' } }, { asset: asset({ ...valid, key: 'raw.hours' }) }],
  })
  expect(made.definition.deps.map(({ asset_key }) => asset_key)).toEqual(['raw.days', 'raw.events', 'raw.hours', 'raw.users'])
})

test('what the user changes afterwards does not get in', () => {
  const tags = { team: 'core' }
  const made = asset({ ...valid, tags })
  tags.team = 'other'
  expect(made.definition.tags).toEqual({ team: 'core' })
  expect(Object.isFrozen(made.definition.tags)).toBe(true)
})

test('every fault is in one error, and each names its field', () => {
  const options = {
    key: 'raw events',
    deps: ['a b', 7],
    priority: 500,
    retry: { max_attempts: 0, atempts: 1 },
    freshness: {},
    run: 'later',
  }
  expect(faultsOf(options).map((fault) => fault.split(' ')[0])).toEqual([
    'key',
    'deps[0]',
    'deps[1]',
    'run',
    'priority',
    'retry.max_attempts',
    'retry.atempts',
    'freshness',
  ])
  expect(() => asset(options as never)).toThrow(/^asset "raw events" has 8 faults:\n {2}- key is "raw events"\. Give it 1 to 200 letters/)
})

describe('what is wrong is said with the field and the cure', () => {
  const self = { ...valid, key: 'a', deps: ['a'] }
  test.each([
    [undefined, 'Its options are undefined. Give it an object.'],
    [{ ...valid, key: undefined }, 'key is missing. Give it 1 to 200 letters'],
    [{ ...valid, key: 7 }, 'key is 7. Give it 1 to 200 letters'],
    [{ ...valid, deps: undefined }, 'deps is missing. Give it a list of assets or their keys; [] where there are none.'],
    [{ ...valid, deps: 'a' }, 'deps is "a". Give it a list'],
    [{ ...valid, deps: [undefined] }, 'deps[0] is undefined. Name it by its key'],
    [{ ...valid, deps: new Array(1) }, 'deps[0] is undefined.'],
    [{ ...valid, deps: [null] }, 'deps[0] is null. Give it an asset, the key of one'],
    [{ ...valid, deps: ['a', 'b', 'a'] }, 'deps[2] is "a", as deps[0] is. Name it once.'],
    [{ ...valid, deps: [{ asset: 'a', maping: {} }] }, 'deps[0].maping is not known here. Did you mean mapping?'],
    [{ ...valid, deps: [{ asset: 7 }] }, 'deps[0].asset is 7. Give it an asset'],
    [
      { ...valid, deps: [{ asset: 'a', mapping: { type: 'latest' } }] },
      'deps[0].mapping cannot be used. The mapping\'s type "latest" is not known.',
    ],
    [{ ...valid, deps: [{ asset: 'a', mapping: 'last' }] }, 'deps[0].mapping cannot be used. The mapping is not right'],
    [
      { ...valid, deps: [{ asset: 'a', mapping: { type: 'identity', offset: 1 } }] },
      'The mapping is not right (Unrecognized key: "offset"). Write one of {"type": "identity"}, {"type": "time_window"',
    ],
    [self, 'deps has "a", which is the asset itself.'],
    [{ ...valid, run: undefined }, 'run is missing. Give it a function: async (context)'],
    [
      { ...valid, partitions: { type: 'dynamic', name: 'customers' } },
      'Partitions of type "dynamic" cannot be deployed yet: this version of Servo has no place for their keys.',
    ],
    [{ ...valid, partitions: 'daily' }, 'partitions is "daily". Give it what daily(…), staticPartitions(…) and their like return.'],
    [{ ...valid, partitions_per_task: 10 }, 'partitions_per_task is given, and partitions are not.'],
    [
      { ...valid, partitions: { type: 'static', keys: ['a'] }, partitions_per_task: 0 },
      'partitions_per_task is 0. Give it a whole number from 1 to 10000.',
    ],
    [{ ...valid, partition: {} }, 'partition is not known here. Did you mean partitions?'],
    [{ ...valid, schedule: '@daily' }, 'schedule is not known here. Remove it, or use one of key, deps, run'],
    [{ ...valid, constructor: 1 }, 'constructor is not known here.'],
    [{ ...valid, freshness: { max_age_seconds: 60 } }, 'freshness cannot be given yet'],
    [{ ...valid, code_version: 2 }, 'code_version is 2. Give it text.'],
    [{ ...valid, description: '\ud800' }, 'description is'],
    [{ ...valid, group: '' }, 'group is "". Give it text without control characters, not empty.'],
    [{ ...valid, group: 'a\ud800' }, 'group has half a character'],
    [{ ...valid, owners: 'me' }, 'owners is "me". Give it a list of texts'],
    [{ ...valid, owners: ['me', 1] }, 'owners[1] is 1.'],
    [{ ...valid, tags: ['a'] }, 'tags is a list of 1. Give it an object of texts'],
    [{ ...valid, tags: { team: 1 } }, 'tags.team is 1. Give it text of at most 256 characters.'],
    [{ ...valid, tags: { '': 'a' } }, 'A name in tags is "". Give it 1 to 128 characters.'],
    [{ ...valid, tags: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`t${i}`, ''])) }, 'tags has 51 tags. Leave at most 50.'],
    [{ ...valid, retry: 3 }, 'retry is 3. Give it an object such as {"max_attempts": 3'],
    [{ ...valid, retry: { max_attempts: 1.5 } }, 'retry.max_attempts is 1.5. Give it a whole number from 1'],
    [{ ...valid, retry: { max_infra_losses: -1 } }, 'retry.max_infra_losses is -1. Give it a whole number from 0'],
    [{ ...valid, retry: { factor: 0.5 } }, 'retry.factor is 0.5. Give it a number from 1 to 1000.'],
    [{ ...valid, retry: { max_backoff_seconds: '1m' } }, 'retry.max_backoff_seconds is "1m". Give it a number of seconds from 0'],
    [{ ...valid, cancel_grace_seconds: -1 }, 'cancel_grace_seconds is -1. Give it a number of seconds from 0'],
    [{ ...valid, retry: { backoff_seconds: -1 } }, 'retry.backoff_seconds is -1. Give it a number of seconds from 0'],
    [{ ...valid, retry: { jitter: 2 } }, 'retry.jitter is 2. Give it a number from 0 to 1.'],
    [{ ...valid, heartbeat_timeout_seconds: 0 }, 'heartbeat_timeout_seconds is 0. Give it a number of seconds from 1'],
    [{ ...valid, start_timeout_seconds: 0.5 }, 'start_timeout_seconds is 0.5. Give it a number of seconds from 1'],
    [{ ...valid, timeout_seconds: Number.NaN }, 'timeout_seconds is NaN. Give it a number of seconds'],
    [{ ...valid, priority: 101 }, 'priority is 101. Give it a whole number from -100 to 100.'],
    [{ ...valid, pools: ['a', 'a'] }, 'pools[1] is "a", as pools[0] is.'],
    [{ ...valid, pools: ['pool:a'] }, 'pools[0] is "pool:a". Give it 1 to 100 letters'],
    [{ ...valid, description: 'x'.repeat(70_000) }, 'It has 7'],
  ])('%#', (options, sentence) => {
    const faults = faultsOf(options)
    expect(faults.join('\n')).toContain(sentence)
    expect(faults).toHaveLength(1)
  })
})

test('a member that is undefined is one that is left out', () => {
  const options = { ...valid, retry: undefined, freshness: undefined, partitions: undefined }
  expect(faultsOf(options)).toEqual([])
})

describe('types', () => {
  const events = asset({ key: 'raw.events', deps: [], partitions: daily({ start_date: '2025-01-01' }), run })

  test('know the dependencies by their keys', () => {
    asset({
      key: 'b',
      deps: [],
      run: ({ upstream }) => {
        // @ts-expect-error -- an asset without dependencies has nothing upstream
        void upstream['raw.events']
      },
    })
    asset({
      key: 'b',
      deps: [events, 'raw.users', { asset: 'raw.days' }],
      run: ({ upstream }) => {
        const known: readonly string[] = [upstream['raw.events'], upstream['raw.users'], upstream['raw.days']]
          .flat()
          .map((each) => each.materialization_id)
        // @ts-expect-error -- the key of no dependency
        void upstream['raw.event']
        return { known }
      },
    })
  })

  test('know the partitions by their definition', () => {
    asset({
      key: 'b',
      deps: [],
      partitions: staticPartitions(['europe', 'asia']),
      run: ({ partitions }) => {
        const first: 'europe' | 'asia' = partitions.keys[0]
        // @ts-expect-error -- none of the keys
        const other: 'africa' = partitions.keys[0]
        return { first, other }
      },
    })
    asset({
      key: 'b',
      deps: [],
      partitions: daily({ start_date: '2025-01-01' }),
      run: ({ partitions }) => ({ first: partitions.keys[0].slice(0, 4), end: partitions.range?.end ?? null }),
    })
    asset({
      key: 'b',
      deps: [],
      run: ({ partitions }) => {
        const none: null = partitions
        // @ts-expect-error -- an asset without partitions has none
        void partitions?.keys
        return { none }
      },
    })
  })

  test('refuse metadata that is no JSON', () => {
    asset({ ...valid, run: () => ({ metadata: { row_count: 3 }, data_version: 'v1' }) })
    asset({ ...valid, run: async () => ({ skip_reason: 'no new files' }) })
    asset({
      ...valid,
      run: async ({ logger, heartbeat, signal }) => void (signal.aborted ? logger.warn('stopped') : heartbeat({ done: 1 })),
    })
    // @ts-expect-error -- a date is no JSON
    asset({ ...valid, run: () => ({ at: new Date(0) }) })
    // @ts-expect-error -- a number alone is no metadata
    asset({ ...valid, run: () => 3 })
    // @ts-expect-error -- a version is text
    asset({ ...valid, run: async () => ({ data_version: 3 }) })
  })

  test('refuse members that are not there, and values that are wrong', () => {
    // @ts-expect-error -- a slip of the pen
    expect(() => asset({ key: 'a', deps: [], run, prioritiy: 1 })).toThrow('Did you mean priority?')
    // @ts-expect-error -- no such mapping
    expect(() => asset({ ...valid, deps: [{ asset: 'a', mapping: { type: 'latest' } }] })).toThrow('mapping')
    // @ts-expect-error -- a number is no version
    expect(() => asset({ ...valid, code_version: 2 })).toThrow('code_version')
  })
})
