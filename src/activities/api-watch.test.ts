import { expect, test } from '@jest/globals'
import { createVirtualTime } from '../../test/fixtures/virtual-time.js'
import { watchApi } from './api-watch.js'

/** An API that is down in these spans of seconds. */
function watched(...down: readonly (readonly [number, number])[]) {
  const time = createVirtualTime(0)
  const logged: string[] = []
  const state = { asked: 0, isNeeded: true }
  const watch = watchApi({
    clock: time.clock(),
    async ask() {
      state.asked += 1
      const now_s = time.now() / 1_000
      return down.some(([from, until]) => now_s >= from && now_s < until) ? 'connect ECONNREFUSED' : undefined
    },
    isNeeded: () => state.isNeeded,
    log: (message) => logged.push(message),
    stopping: new AbortController().signal,
  })
  return { time, logged, state, watch }
}

test('workers can speak as long as the API answers, and where it is down for a moment only', async () => {
  const { time, watch, logged } = watched([5, 6])
  await time.pass(30_000)
  expect(watch.unheard()).toBeUndefined()
  expect(logged).toEqual([])
})

test('they cannot while it is down, and ten seconds after it is back that is remembered still', async () => {
  const { time, watch, logged } = watched([5, 20])
  await time.pass(8_500)
  expect(watch.unheard()).toEqual({ for_ms: 3_500, is_over: false })
  await time.pass(20_500)
  expect(watch.unheard()).toEqual({ for_ms: 24_000, is_over: true })
  await time.pass(2_000)
  expect(watch.unheard()).toBeUndefined()
  expect(logged).toEqual([
    'The API does not answer workers: connect ECONNREFUSED. No attempt is given up until workers can speak again.',
    'The API answers workers again, after 15 s.',
  ])
})

test('an API that never answered from here is no evidence of anything', async () => {
  const { time, watch, logged } = watched([0, 1_000])
  await time.pass(60_000)
  expect([watch.unheard(), logged]).toEqual([undefined, []])
})

test('nobody asks while no attempt is out', async () => {
  const { time, state } = watched()
  state.isNeeded = false
  await time.pass(600_000)
  expect(state.asked).toBe(0)
})
