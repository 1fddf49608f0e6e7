import { getEventListeners } from 'node:events'
import { expect, test } from '@jest/globals'
import { beforeAbort, withAnySignal } from './aborts.js'

const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length

test('the signal of several is aborted with the first of them, and none keeps a listener', async () => {
  const [left, right] = [new AbortController(), new AbortController()]
  const seen: boolean[] = []
  await withAnySignal([left.signal, right.signal], async (any) => {
    seen.push(any.aborted)
    expect([listeners(left.signal), listeners(right.signal)]).toEqual([1, 1])
    right.abort()
    seen.push(any.aborted)
  })
  expect(seen).toEqual([false, true])
  expect([listeners(left.signal), listeners(right.signal)]).toEqual([0, 0])
  await withAnySignal([left.signal, right.signal], async (any) => void seen.push(any.aborted))
  expect(seen).toEqual([false, true, true])
})

test('none keeps a listener where the work fails', async () => {
  const { signal } = new AbortController()
  await expect(withAnySignal([signal], () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(listeners(signal)).toBe(0)
})

test('work that ends before the signal answers, or fails, as it would alone, a thousand times without a trace', async () => {
  const { signal } = new AbortController()
  for (let times = 0; times < 1_000; times++) expect(await beforeAbort(signal, Promise.resolve(times))).toBe(times)
  await expect(beforeAbort(signal, Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(listeners(signal)).toBe(0)
})

test('work that the signal ends first is left alone, whatever becomes of it', async () => {
  const controller = new AbortController()
  let fail: (error: Error) => void = () => undefined
  const work = new Promise((_, reject) => {
    fail = reject
  })
  const answer = beforeAbort(controller.signal, work)
  controller.abort()
  expect(await answer).toBeUndefined()
  // Nobody waits for it: as an unhandled rejection it would end the process.
  fail(new Error('too late'))
  expect(await beforeAbort(controller.signal, Promise.resolve('as late'))).toBeUndefined()
  expect(listeners(controller.signal)).toBe(0)
})
