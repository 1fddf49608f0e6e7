// What holds for the instants of every cron, list of crons and zone, whatever the rule for changes of the clocks says.

import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { openScheduleTicks, readCrons, type Ticks } from '../../src/core/cron/schedule-ticks.js'
import { createRandom } from '../fixtures/random.js'
import { generateCron } from '../oracle/cron-generate.js'
import { allZones } from '../oracle/zones.js'

const DAY_MS = 86_400_000
const FIRST_MS = Date.UTC(1901, 0, 1)
const LAST_MS = Date.UTC(2090, 0, 1)
/** As many as a walk may tell: an expression of every second has two million in a month. */
const TOLD_MAX = 3_000

const HOURS = [0, 1, 2, 3, 23]

const cron = fc.tuple(fc.integer({ min: 0, max: 1_000_000 }), fc.boolean()).map(([seed, has_seconds]) => {
  const random = createRandom(`property/${seed}`)
  return generateCron(random, HOURS, has_seconds && random.isTrue(0.3)).text
})
const crons = fc.array(cron, { minLength: 1, maxLength: 4 }).filter((list) => !('problem' in readCrons(list)))
const zone = fc.constantFrom(...allZones())
const from = fc.integer({ min: FIRST_MS, max: LAST_MS })
const length = fc.integer({ min: 1, max: 60 * DAY_MS })

function ticksOf(list: string | readonly string[], timezone: string): Ticks {
  const ticks = openScheduleTicks({ cron: list, timezone })
  if ('problem' in ticks) throw new Error(ticks.problem)
  return ticks
}

/** In order, and where the last one is: what is beyond was not asked for. */
function walked(ticks: Ticks, from_ms: number, to_ms: number): { readonly told: readonly number[]; readonly until_ms: number } {
  const told: number[] = []
  ticks.walk(from_ms, to_ms, (at_ms) => told.push(at_ms) < TOLD_MAX)
  return { told, until_ms: told.length < TOLD_MAX ? to_ms : (told.at(-1) as number) + 1 }
}

describe('instants of crons', () => {
  test('are whole seconds and strictly increase, and a walk tells as many as are counted', () => {
    fc.assert(
      fc.property(crons, zone, from, length, (list, timezone, from_ms, length_ms) => {
        const ticks = ticksOf(list, timezone)
        const { told, until_ms } = walked(ticks, from_ms, from_ms + length_ms)
        expect(told.every((at_ms, i) => at_ms % 1_000 === 0 && at_ms > (told[i - 1] ?? from_ms - 1))).toBe(true)
        expect(ticks.count(from_ms, until_ms)).toBe(told.length)
      }),
    )
  })

  test('are found by number, by next and by previous as by a walk', () => {
    fc.assert(
      fc.property(
        crons,
        zone,
        from,
        length,
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (list, timezone, from_ms, length_ms, share) => {
          const ticks = ticksOf(list, timezone)
          const { told } = walked(ticks, from_ms, from_ms + length_ms)
          const number = Math.floor(share * told.length)
          const at_ms = told[number]
          if (at_ms === undefined) return
          expect(ticks.nth(from_ms, number)).toBe(at_ms)
          expect(ticks.next(at_ms - 1)).toBe(at_ms)
          expect(ticks.previous(at_ms + 1)).toBe(at_ms)
          expect(ticks.previous(ticks.next(at_ms) ?? Number.POSITIVE_INFINITY)).toBe(at_ms)
          expect(ticks.next(ticks.previous(at_ms) ?? from_ms - 1)).toBe(at_ms)
          expect(ticks.count(from_ms, at_ms)).toBe(number)
        },
      ),
    )
  })

  test('of a list are the union of those of its expressions', () => {
    fc.assert(
      fc.property(crons, zone, from, length, (list, timezone, from_ms, length_ms) => {
        const { told, until_ms } = walked(ticksOf(list, timezone), from_ms, from_ms + length_ms)
        const union = new Set(list.flatMap((each) => walked(ticksOf(each, timezone), from_ms, until_ms).told))
        expect(told).toEqual([...union].sort((left, right) => left - right))
      }),
    )
  })

  test('of years that are far apart are counted in parts as in one', () => {
    fc.assert(
      fc.property(crons, zone, fc.tuple(from, from, from), (list, timezone, instants) => {
        const [first, second, third] = [...instants].sort((left, right) => left - right) as [number, number, number]
        const ticks = ticksOf(list, timezone)
        expect(ticks.count(first, second) + ticks.count(second, third)).toBe(ticks.count(first, third))
      }),
      { numRuns: 10 },
    )
  })
})
