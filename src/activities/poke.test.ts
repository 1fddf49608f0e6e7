import { beforeEach, describe, expect, test } from '@jest/globals'
import { createVirtualTime, type VirtualTime } from '../../test/fixtures/virtual-time.js'
import { createPoker, type Signalled } from './poke.js'

describe('pokes of the loop', () => {
  let time: VirtualTime
  let sleeping: number
  let signals: number[]
  let answers: ('fail' | Signalled)[]
  let poke: ReturnType<typeof createPoker>
  let closing: AbortController

  beforeEach(() => {
    time = createVirtualTime(0)
    sleeping = 0
    signals = []
    answers = []
    closing = new AbortController()
    const clock = time.clock()
    poke = createPoker({
      clock: {
        ...clock,
        async sleep(duration_ms) {
          sleeping += 1
          await clock.sleep(duration_ms)
          sleeping -= 1
        },
      },
      closed: closing.signal,
      log: () => undefined,
      async signal() {
        signals.push(time.now())
        const answer = answers.shift() ?? 'sent'
        if (answer === 'fail') throw new Error('Temporal does not answer.')
        return answer
      },
    })
  })

  const passTo = (at: number) => time.pass(at - time.now())

  test('that are wanted now go at once, and those of one moment together', async () => {
    for (let callers = 0; callers < 5; callers++) poke('now')
    await passTo(10)
    expect(signals).toEqual([0])
    poke('now')
    await passTo(20)
    expect(signals).toEqual([0, 10])
  })

  test('that nobody waits for wait for company', async () => {
    poke('soon')
    await passTo(100)
    poke('soon')
    await passTo(1_000)
    expect(signals).toEqual([150])
  })

  test('that nobody waits for go with one that is wanted now, and who comes after it waits for himself', async () => {
    poke('soon')
    await passTo(100)
    poke('now')
    await passTo(120)
    poke('soon')
    await passTo(1_000)
    expect(signals).toEqual([100, 270])
  })

  test('wait once, however often one that is wanted now comes between', async () => {
    for (let at = 0; at < 600; at += 10) {
      await passTo(at)
      poke(at % 20 === 0 ? 'soon' : 'now')
      await passTo(at)
      expect(sleeping).toBeLessThanOrEqual(1)
    }
    await passTo(2_000)
    expect(signals.filter((at) => at > 590)).toEqual([])
    expect(signals).toHaveLength(30)
  })

  test('that do not arrive are sent again, and those that came meanwhile with them', async () => {
    answers = ['fail', 'fail']
    poke('now')
    await passTo(300)
    poke('soon')
    await passTo(10_000)
    expect(signals).toEqual([0, 500, 1_500])
  })

  test('are given up by a process that ends', async () => {
    answers = ['fail']
    poke('now')
    await passTo(100)
    closing.abort()
    answers = []
    await passTo(10_000)
    expect(signals.length).toBeLessThanOrEqual(2)
  })
})
