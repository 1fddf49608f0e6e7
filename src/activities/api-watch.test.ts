import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { until } from '../../test/fixtures/until.js'
import { createVirtualTime } from '../../test/fixtures/virtual-time.js'
import { askHealth, watchApi } from './api-watch.js'

/** An API that is down in these spans of seconds. */
function watched(...down: readonly (readonly [number, number])[]) {
  const time = createVirtualTime(0)
  const logged: string[] = []
  const state: { asked: number; isNeeded: boolean | undefined } = { asked: 0, isNeeded: true }
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
  const { time, watch, logged } = watched([5, 5.2])
  await time.pass(30_000)
  expect(watch.unheard()).toBeUndefined()
  expect(logged).toEqual([])
})

test('they cannot while it is down, and ten seconds after it is back that is remembered still', async () => {
  const { time, watch, logged } = watched([5, 20])
  await time.pass(8_500)
  expect(watch.unheard()).toEqual({ for_ms: 3_500, over_for_ms: 0, left_ms: 15 * 60_000 - 3_500 })
  await time.pass(20_500)
  expect(watch.unheard()).toEqual({ for_ms: 24_000, over_for_ms: 8_750, left_ms: 15 * 60_000 - 24_000 })
  await time.pass(2_000)
  expect(watch.unheard()).toBeUndefined()
  expect(logged).toEqual([
    'The API does not answer workers: connect ECONNREFUSED. No attempt is given up until workers can speak again, or 15 minutes have passed.',
    'The API answers workers again, after 15 s.',
  ])
})

test('an API that never answered from here is no evidence of anything', async () => {
  const { time, watch, logged } = watched([0, 1_000])
  await time.pass(60_000)
  expect([watch.unheard(), logged]).toEqual([undefined, []])
})

test('nobody asks while no attempt is out, but once, to know that it can be reached from here', async () => {
  const { time, state } = watched()
  state.isNeeded = false
  await time.pass(600_000)
  expect(state.asked).toBe(1)
})

test('that it is away is known before an attempt has been silent for two seconds', async () => {
  const { time, watch } = watched([5.001, 60])
  await time.pass(5_001 + 1_500)
  expect(watch.unheard()).toMatchObject({ over_for_ms: 0 })
})

test('one failure is none, but of an API that was away lately it is the next outage', async () => {
  const cut = watched([40.9, 41.1])
  const flapping = watched([10, 13], [41.1, 41.4])
  const unheardAt = async ({ time, watch }: typeof cut, ms: number) => {
    await time.pass(ms - time.now())
    return watch.unheard() !== undefined
  }
  expect([await unheardAt(cut, 41_200), await unheardAt(cut, 42_500)]).toEqual([false, false])
  expect([await unheardAt(flapping, 40_000), await unheardAt(flapping, 42_500)]).toEqual([false, true])
})

test('an attempt that begins, and finds the API gone at the next look, is not given up for it', async () => {
  const { time, state, watch } = watched([5.5, 60])
  state.isNeeded = false
  await time.pass(5_600)
  state.isNeeded = true
  await time.pass(1_000)
  expect(watch.unheard()).toMatchObject({ over_for_ms: 0 })
})

const MINUTE = 60_000

/** In which seconds workers are taken for unheard. */
async function unheardSeconds({ time, watch }: ReturnType<typeof watched>, until_ms: number): Promise<readonly number[]> {
  const seconds: number[] = []
  while (time.now() < until_ms) {
    await time.pass(1_000)
    if (watch.unheard() !== undefined) seconds.push(Math.floor(time.now() / 1_000))
  }
  return seconds
}

test('an API that is away for a few seconds again and again is one outage, which ends after a quarter of an hour', async () => {
  const flapping = Array.from({ length: 180 }, (_, turn) => [10 + turn * 10, 13 + turn * 10] as const)
  const down = watched(...flapping, [2_200, 2_230])
  const seconds = await unheardSeconds(down, 40 * MINUTE)
  const flapped = seconds.filter((second) => second < 1_900)
  expect(flapped.length).toBeGreaterThan(50)
  expect(Math.max(...flapped)).toBeLessThanOrEqual(10 + 15 * 60 + 1)
  // It was well for a while meanwhile.
  expect(seconds).toContain(2_220)
})

/** The latest instant, in seconds, to which the longest hold could be given at one of these. */
const heldUntil = (held: readonly { readonly second: number; readonly left_ms: number }[]): number =>
  Math.max(...held.map(({ second, left_ms }) => second + Math.min(60, left_ms / 1_000)))

test.each([10, 61, 75, 130, 290])(
  'one that fails every %s seconds holds back for a quarter of an hour in all, whatever holds are given',
  async (every_s) => {
    const { time, watch } = watched(...Array.from({ length: 400 }, (_, turn) => [10 + turn * every_s, 14 + turn * every_s] as const))
    const held: { readonly second: number; readonly left_ms: number }[] = []
    while (time.now() < 120 * MINUTE && time.now() / 1_000 < 400 * every_s) {
      await time.pass(1_000)
      const unheard = watch.unheard()
      if (unheard !== undefined) held.push({ second: time.now() / 1_000, left_ms: unheard.left_ms })
    }
    expect(held.length).toBeGreaterThan(15)
    expect(heldUntil(held)).toBeLessThanOrEqual(10 + 15 * 60)
  },
)

test('where outages are not one, deadlines are judged for minutes between the holds of two', async () => {
  const { time, watch } = watched(...Array.from({ length: 20 }, (_, turn) => [10 + turn * 310, 14 + turn * 310] as const))
  let longest_s = 0
  let held_until_s = 0
  while (time.now() < 90 * MINUTE) {
    await time.pass(1_000)
    const second = time.now() / 1_000
    if (watch.unheard() === undefined) continue
    if (held_until_s > 0) longest_s = Math.max(longest_s, second - held_until_s)
    held_until_s = second + 60
  }
  expect(longest_s).toBeGreaterThan(200)
})

test('one that never comes back is no reason any more after a quarter of an hour, nor when it comes back then', async () => {
  const seconds = await unheardSeconds(watched([5, 1_200]), 25 * MINUTE)
  expect(seconds).toContain(14 * 60)
  expect(Math.max(...seconds)).toBeLessThanOrEqual(5 + 15 * 60 + 1)
})

test('nor where nothing was out for a moment: what is sent anew finds the same API', async () => {
  const down = watched([5, 100_000])
  await unheardSeconds(down, 20 * MINUTE)
  down.state.isNeeded = false
  await down.time.pass(3_000)
  down.state.isNeeded = true
  expect(await unheardSeconds(down, 25 * MINUTE)).toEqual([])
})

test('an outage is not forgotten where nobody knows for a moment whether anything is out', async () => {
  const { time, watch, state } = watched([5, 60])
  await time.pass(20_500)
  state.isNeeded = undefined
  await time.pass(3_000)
  expect(watch.unheard()).toMatchObject({ over_for_ms: 0 })
  state.isNeeded = false
  await time.pass(2_000)
  expect(watch.unheard()).toBeUndefined()
})

test('that nobody asks any more is said where it was away, and once', async () => {
  const { time, state, logged, watch } = watched([5, 100])
  await time.pass(20_500)
  state.isNeeded = false
  await time.pass(60_000)
  expect(watch.unheard()).toBeUndefined()
  expect(logged.slice(1)).toEqual(['No attempt waits for the API any more, and nobody asks it: it has not answered workers for 16 s.'])
  state.isNeeded = true
  await time.pass(15_000)
  expect(logged).toHaveLength(3)
  expect(logged[2]).toMatch(/^The API does not answer workers: /)
})

test('a health page that has no end is not waited for, and is given up at once', async () => {
  let answering = 0
  const server = createServer((_request, response) => {
    answering += 1
    response.on('close', () => (answering -= 1))
    response.writeHead(200)
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(100_000)));
    }
    response.on('drain', more)
    more()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const ask = askHealth(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    expect([await ask(), await ask()]).toEqual([undefined, undefined])
    // Well before the time-out of the question, which would end them, too.
    await until('no answer is under way any more', () => answering === 0, 1_000)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})
