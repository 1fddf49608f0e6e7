// What a deploy says of the mappings of its dependencies, by the definitions of both sides, wherever those are deployed.

import { describe, expect, test } from '@jest/globals'
import { readText } from '../../test/tidy/tree.js'
import type { AssetDefinition } from '../events/asset.js'
import { deployFaults, rowOf } from './deploy-faults.js'

const DAYS = { type: 'daily', start_date: '2025-01-01' } as const
const REGIONS = { type: 'static', keys: ['eu', 'us'] } as const
const GRID = { type: 'multi', dimensions: { date: DAYS, region: REGIONS } } as const

type Partitions = AssetDefinition['partitions']
type Mapping = AssetDefinition['deps'][number]['mapping']
const partitioned = (asset_key: string, partitions: Partitions): AssetDefinition => ({
  asset_key,
  deps: [],
  ...(partitions === undefined ? {} : { partitions }),
})
const mapped = (down: Partitions, mapping: Mapping): AssetDefinition => ({
  ...partitioned('down', down),
  deps: [{ asset_key: 'up', ...(mapping === undefined ? {} : { mapping }) }],
})
const NOW_MS = Date.parse('2025-06-01T00:00:00Z')

/** The faults of a deploy of both, which have to be those of a deploy of one beside the other. */
function faultsOf(down: Partitions, up: Partitions, mapping: Mapping) {
  const [one, other] = [mapped(down, mapping), partitioned('up', up)]
  const together = deployFaults({ location_name: 'shop', assets: [one, other] }, new Map(), [], NOW_MS)
  expect(deployFaults({ location_name: 'shop', assets: [one] }, new Map([['up', rowOf(other, 'elsewhere')]]), [], NOW_MS)).toEqual(together)
  return together
}

describe('a mapping', () => {
  test.each<readonly [Partitions, Partitions, Mapping]>([
    [DAYS, DAYS, undefined],
    [DAYS, REGIONS, undefined],
    [DAYS, DAYS, { type: 'identity' }],
    [undefined, undefined, { type: 'identity' }],
    [DAYS, DAYS, { type: 'time_window', start_offset: -1 }],
    [DAYS, DAYS, { type: 'last' }],
    [undefined, DAYS, { type: 'all' }],
    [REGIONS, REGIONS, { type: 'static', upstream_keys: { eu: ['us'] } }],
    [DAYS, GRID, { type: 'dimension', dimension: 'date' }],
  ])('that fits is deployed: %#', (down, up, mapping) => {
    expect(faultsOf(down, up, mapping)).toEqual([])
  })

  test.each<readonly [Partitions, Partitions, Mapping, string]>([
    [DAYS, DAYS, { type: 'nearest' }, `The mapping's type "nearest" is not known.`],
    [DAYS, DAYS, 'last', 'The mapping is not right'],
    [DAYS, DAYS, null, 'The mapping is not right'],
    [DAYS, DAYS, { type: 'identity', offset: 1 }, 'The mapping is not right (Unrecognized key: "offset").'],
    [DAYS, DAYS, { type: 'time_window', start_offset: 0.5 }, "The mapping's start_offset is not right"],
    [
      REGIONS,
      REGIONS,
      { type: 'time_window' },
      'the downstream asset has the 2 keys of a static definition. Both need partitions by time.',
    ],
    [
      REGIONS,
      REGIONS,
      { type: 'static', upstream_keys: { eu: ['uk'] } },
      `upstream_keys under "eu": "uk" is none of its keys. The nearest is "us".`,
    ],
    [DAYS, GRID, { type: 'dimension', dimension: 'day' }, '"day" is none of the upstream asset: name one of date, region.'],
    [DAYS, undefined, { type: 'dimension', dimension: 'date' }, 'the upstream asset has no partitions.'],
  ])('that does not fit is refused with what is wrong: %#', (down, up, mapping, sentence) => {
    expect(faultsOf(down, up, mapping)).toEqual([{ path: 'assets[0].deps[0].mapping', message: expect.stringContaining(sentence) }])
    expect(faultsOf(down, up, mapping)[0]?.message).toMatch(/^down needs up, and deps\[0\]\.mapping cannot be used\. The /)
  })

  test('of another location that new partitions do not fit is refused, with where it is', () => {
    const other = rowOf(mapped(DAYS, { type: 'time_window' }), 'elsewhere')
    const deploy = (up: Partitions) =>
      deployFaults({ location_name: 'shop', assets: [partitioned('up', up)] }, new Map([['down', other]]), [], NOW_MS)
    expect(deploy({ type: 'hourly', start_date: '2025-01-01' })).toEqual([])
    expect(deploy(REGIONS)).toEqual([
      {
        path: 'assets[0].partitions',
        message:
          'down of the code location elsewhere needs up by a mapping that does not fit it any more. The mapping is by time, and the ' +
          'upstream asset has the 2 keys of a static definition. Both need partitions by time. Deploy elsewhere without that mapping first.',
      },
    ])
  })

  test('is read in every form that docs/partitions.md shows', () => {
    const COUNTRIES = { type: 'static', keys: ['de', 'fr'] } as const
    const BY_DAY = { type: 'multi', dimensions: { day: DAYS } } as const
    const sides: readonly (readonly [Partitions, Partitions])[] = [
      [DAYS, DAYS],
      [REGIONS, COUNTRIES],
      [DAYS, GRID],
      [GRID, BY_DAY],
    ]
    const page = readText('docs/partitions.md')
    const forms = [...page.matchAll(/^\| `(\{"type".*?\})` \|/gm)].map(([, form = '']) => form.replaceAll('…', '{"type": "identity"}'))
    expect(forms).toHaveLength(7)
    for (const form of forms) {
      const said = sides.map(([down, up]) => faultsOf(down, up, JSON.parse(form) as Mapping).map(({ message }) => message))
      expect(said).toContainEqual([])
    }
  })

  test('of partitions that are wrong is not blamed for them', () => {
    const faults = faultsOf({ type: 'daily', start_date: 'soon' }, DAYS, { type: 'time_window' })
    expect(faults.map(({ path }) => path)).toEqual(['assets[0].partitions'])
  })
})
