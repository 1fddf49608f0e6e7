// A sample of `npm run oracle`: the years in which clocks changed in odd ways, and zones drawn by chance.

import { describe, expect, test } from '@jest/globals'
import { isZone } from '../../src/core/zone.js'
import { createRandom } from '../fixtures/random.js'
import { compareYear } from './cron-compare.js'
import { stretchesOf } from './zone-clock.js'
import { allZones, allZonesWithLinks, oddZoneYears } from './zones.js'

const SEED = Number(process.env['SERVO_TEST_SEED'] ?? 1)
const DRAWN = 40
const EXPRESSIONS = 3
const TIMEOUT_MS = 240_000

function drawnZoneYears() {
  const random = createRandom(`oracle-sample/${SEED}`)
  return Array.from({ length: DRAWN }, () => ({ zone: random.pick(allZones()), year: 1915 + random.below(125) }))
}

describe('the cron engine and the rule by brute force agree', () => {
  test.each([
    ['in years in which clocks changed in odd ways', oddZoneYears()],
    ['in zones and years drawn by chance', drawnZoneYears()],
  ])(
    '%s',
    (_, zoneYears) => {
      const compared = zoneYears.map(({ zone, year }) => compareYear({ zone, year, seed: SEED, expressions: EXPRESSIONS }))
      expect(compared.flatMap(({ failures }) => failures)).toEqual([])
      // What compares nothing proves nothing.
      expect(compared.reduce((sum, { instants }) => sum + instants, 0)).toBeGreaterThan(10_000)
      expect(compared.reduce((sum, { changes }) => sum + changes, 0)).toBeGreaterThan(5)
    },
    TIMEOUT_MS,
  )
})

test('the clocks that the rule is applied to are those of Lord Howe, Apia and Monrovia', () => {
  const offsets = (zone: string, from: string, to: string) =>
    stretchesOf(zone, Date.parse(from), Date.parse(to)).map(({ from_ms, offset_ms }) => [
      new Date(from_ms).toISOString(),
      offset_ms / 1_000,
    ])
  expect(offsets('Australia/Lord_Howe', '2025-04-01T00:00:00Z', '2025-04-10T00:00:00Z').at(-1)).toEqual([
    '2025-04-05T15:00:00.000Z',
    37_800,
  ])
  expect(offsets('Pacific/Apia', '2011-12-29T00:00:00Z', '2012-01-01T00:00:00Z').at(-1)).toEqual(['2011-12-30T10:00:00.000Z', 50_400])
  expect(offsets('Africa/Monrovia', '1972-01-01T00:00:00Z', '1972-01-10T00:00:00Z')).toEqual([
    ['1972-01-01T00:00:00.000Z', -2_670],
    ['1972-01-07T00:44:30.000Z', 0],
  ])
})

test('the run of all zones has old names of zones as well, and each is one', () => {
  const zones = allZonesWithLinks()
  expect(zones).toEqual(expect.arrayContaining(['US/Pacific', 'EST5EDT', ...allZones()]))
  expect(zones.filter((zone) => !isZone(zone))).toEqual([])
})
