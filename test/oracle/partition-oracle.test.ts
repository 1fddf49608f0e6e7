// Partitions as the engine has them beside those of the rule by brute force: how many there are, which exist at an instant, and
// whether what a run may name is the same for the API, for the plan and for the rule.

import { describe, expect, test } from '@jest/globals'
import { isRefusal, type KeyOrder } from '../../src/partitions/key-order.js'
import { keyOrderOf } from '../../src/partitions/order.js'
import { createRandom } from '../fixtures/random.js'
import { drawDefinition, drawInstant, drawTime } from './partition-draw.js'
import { combinations } from './partition-rule.js'

const SEED = process.env['SERVO_TEST_SEED'] ?? '1'
const DRAWN = 70
const INSTANTS = 3

function orderOf(definition: object): KeyOrder {
  const order = keyOrderOf(definition)
  if (isRefusal(order)) throw new Error(`${JSON.stringify(definition)}: ${order.problem}`)
  return order
}

const sortKeysIn = (order: KeyOrder): readonly string[] =>
  Array.from({ length: order.total ?? 0 }, (_, index) => order.entryAt(index)?.sort_key ?? `none at ${index}`)

describe('the partitions of a definition and the rule by brute force agree', () => {
  test('which of them exist at an instant, and by an offset ahead of it', () => {
    let keys = 0
    for (let number = 0; number < DRAWN; number++) {
      const random = createRandom(`partition-oracle/${SEED}/${number}`)
      const { definition, sides } = drawDefinition(random)
      const order = orderOf(definition)
      for (let i = 0; i < INSTANTS; i++) {
        const [now_ms, ahead] = [drawInstant(random), random.pick([0, 0, 1, 3])]
        const asked = `seed ${SEED}, number ${number}: ${JSON.stringify(definition)} at ${new Date(now_ms).toISOString()} and ${ahead} ahead`
        const expected = combinations(sides, now_ms, ahead)
        const existing = order.at(now_ms, ahead)
        expect([asked, existing.total, existing.size()]).toEqual([asked, expected.length, expected.length])
        expect([asked, sortKeysIn(existing)]).toEqual([asked, expected])
        for (const index of [0, 1, Math.floor(expected.length / 2), expected.length - 1]) {
          const key = existing.keyAt(index)
          if (key !== null) expect([asked, key, existing.indexOf(key)]).toEqual([asked, key, { index }])
        }
        keys += expected.length
      }
    }
    // What compares nothing proves nothing.
    expect(keys).toBeGreaterThan(5_000)
  })

  test('all that there will ever be, where there is an end', () => {
    let ended = 0
    for (let number = 0; number < DRAWN; number++) {
      const random = createRandom(`partition-oracle-ever/${SEED}/${number}`)
      const { definition, ever } = drawTime(random, null)
      const asked = `seed ${SEED}, number ${number}: ${JSON.stringify(definition)}`
      const order = orderOf(definition)
      expect([asked, order.total]).toEqual([asked, ever?.length ?? null])
      if (ever === null) continue
      ended += 1
      const expected = ever.map((start_ms) => new Date(start_ms).toISOString())
      expect([asked, sortKeysIn(order)]).toEqual([asked, expected])
      // No instant, however late, has a key that the whole order has not.
      const late = Date.UTC(2150, 0, 1)
      expect([asked, sortKeysIn(order.at(late, 3))]).toEqual([asked, expected])
      expect([asked, order.keyAt(ever.length), order.windowAt(ever.length)]).toEqual([asked, null, null])
    }
    expect(ended).toBeGreaterThan(15)
  })
})
