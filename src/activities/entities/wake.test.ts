import { expect, test } from '@jest/globals'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/time.js'
import { firesOften, nextFireSlackMs, wakeInMs } from './wake.js'

const NOW = Date.UTC(2025, 0, 15, 10)
const wake = (due: readonly number[], count = 1) => wakeInMs('an entity', due, { now: NOW, count, has_fired: true })

test('a loop looks two seconds after what is due, and a little later where there are many', () => {
  const due = [NOW + MINUTE_MS, NOW + HOUR_MS]
  expect(wake(due)).toBeGreaterThanOrEqual(MINUTE_MS + 2 * SECOND_MS)
  expect(wake(due)).toBeLessThan(MINUTE_MS + 3 * SECOND_MS)
  expect(wake(due, 1_000) - wake(due)).toBeGreaterThan(0)
  expect(wake(due, 1_000)).toBeLessThan(MINUTE_MS + 15 * SECOND_MS)
})

test('a loop whose entity fires more often than every five minutes looks every ten', () => {
  const minutely = [NOW + MINUTE_MS, NOW + 2 * MINUTE_MS]
  expect([firesOften(minutely), nextFireSlackMs(minutely)]).toEqual([true, 5 * MINUTE_MS])
  expect(wake(minutely)).toBeGreaterThanOrEqual(10 * MINUTE_MS)
  expect(wake(minutely, 100_000)).toBeLessThan(11 * MINUTE_MS)
  // Every two seconds on New Year's Eve: not before.
  expect(wake([NOW + HOUR_MS, NOW + HOUR_MS + 2 * SECOND_MS])).toBeGreaterThan(HOUR_MS)
  const everyFive = [NOW + 5 * MINUTE_MS, NOW + 10 * MINUTE_MS]
  expect([firesOften(everyFive), nextFireSlackMs(everyFive)]).toEqual([false, 0])
  expect(wake(everyFive)).toBeLessThan(6 * MINUTE_MS)
})

test('a loop whose entity has never fired looks after its first fire, however often it will', () => {
  const minutely = [NOW + MINUTE_MS, NOW + 2 * MINUTE_MS]
  expect(wakeInMs('an entity', minutely, { now: NOW, count: 1, has_fired: false })).toBeLessThan(MINUTE_MS + 3 * SECOND_MS)
})

test('a loop that waits for nothing, or for something far away, looks within six hours', () => {
  for (const due of [[], [NOW + 90 * 24 * HOUR_MS]]) {
    expect(wake(due)).toBeLessThanOrEqual(6 * HOUR_MS)
    expect(wake(due)).toBeGreaterThanOrEqual(3 * HOUR_MS)
  }
})
