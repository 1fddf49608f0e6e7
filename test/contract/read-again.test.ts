// Reads that no answer came to are made again; what was answered, and every write, is not.

import { expect, test } from '@jest/globals'
import { corrupt, unavailable } from '../../src/core/errors.js'
import { createMemoryStore } from '../../src/storage/memory.js'
import { CREATE, type ObjectStore } from '../../src/storage/object-store.js'
import { readingAgain } from '../../src/storage/read-again.js'

const BYTES = new TextEncoder().encode('hello')

/** Fails the first calls of each kind, and counts all of them. */
async function failing(failures: number, error: Error) {
  const inner = createMemoryStore({ clock: { now: () => 0 } })
  await inner.put('a', BYTES, { if_generation: CREATE })
  const calls = { put: 0, get: 0, head: 0, list: 0, delete: 0 }
  const counted = <T>(kind: keyof typeof calls, call: () => Promise<T>): Promise<T> => {
    calls[kind] += 1
    return calls[kind] <= failures ? Promise.reject(error) : call()
  }
  const flaky: ObjectStore = {
    ...inner,
    put: (...args) => counted('put', () => inner.put(...args)),
    get: (...args) => counted('get', () => inner.get(...args)),
    head: (...args) => counted('head', () => inner.head(...args)),
    list: (...args) => counted('list', () => inner.list(...args)),
    delete: (...args) => counted('delete', () => inner.delete(...args)),
  }
  const slept: number[] = []
  return { calls, slept, store: readingAgain(flaky, { sleep: async (ms) => void slept.push(ms) }) }
}

test('a read that got no answer twice gets its third', async () => {
  const { store, calls, slept } = await failing(2, unavailable('Nothing came.'))
  expect(await store.get('a')).toMatchObject({ kind: 'found', bytes: BYTES })
  expect(await store.head('a')).toMatchObject({ kind: 'found' })
  expect((await store.list('')).objects.map(({ name }) => name)).toEqual(['a'])
  expect(calls).toMatchObject({ get: 3, head: 3, list: 3 })
  expect(slept).toHaveLength(6)
})

test('a store that is away is not asked without end', async () => {
  const { store, calls } = await failing(100, unavailable('Nothing came.'))
  await expect(store.get('a')).rejects.toThrow('Nothing came.')
  expect(calls.get).toBe(3)
})

test('what is wrong with the bytes is not asked for again, and no write is', async () => {
  const wrong = await failing(1, corrupt('These are other bytes.'))
  await expect(wrong.store.get('a')).rejects.toThrow('These are other bytes.')
  expect(wrong.calls.get).toBe(1)
  const { store, calls } = await failing(1, unavailable('Nothing came.'))
  await expect(store.put('b', BYTES, { if_generation: CREATE })).rejects.toThrow('Nothing came.')
  await expect(store.delete('a', { if_generation: '1' })).rejects.toThrow('Nothing came.')
  expect(calls).toMatchObject({ put: 1, delete: 1 })
})
