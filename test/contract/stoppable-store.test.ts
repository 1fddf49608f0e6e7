// A store for work that can be stopped half-way: it takes no call after the signal, and shares what the process remembers.

import { expect, test } from '@jest/globals'
import { createMemoryStore } from '../../src/storage/memory.js'
import { CREATE } from '../../src/storage/object-store.js'
import { originalOf, StoppedError, stoppableStore } from '../../src/storage/stoppable.js'
import { damagedFiltersOf } from '../../src/tables/damaged-filters.js'

const BYTES = new TextEncoder().encode('hello')

test('it answers until the signal is aborted, and takes no call of any kind afterwards', async () => {
  const inner = createMemoryStore({ clock: { now: () => 0 } })
  const stopping = new AbortController()
  const store = stoppableStore(inner, stopping.signal)
  expect(await store.put('a', BYTES, { if_generation: CREATE })).toMatchObject({ kind: 'stored' })
  const under_way = store.get('a')
  stopping.abort()
  // Whether a write that is under way arrives is not known to anybody: its answer is not kept from the caller.
  expect(await under_way).toMatchObject({ kind: 'found' })
  const calls = [
    () => store.put('b', BYTES, { if_generation: CREATE }),
    () => store.get('a'),
    () => store.head('a'),
    () => store.list(''),
    () => store.delete('a', { if_generation: CREATE }),
  ]
  for (const call of calls) await expect(call()).rejects.toBeInstanceOf(StoppedError)
  expect((await inner.list('')).objects.map(({ name }) => name)).toEqual(['a'])
})

test('what the process knows of a store holds for it too, however often it is wrapped', () => {
  const inner = createMemoryStore({ clock: { now: () => 0 } })
  const { signal } = new AbortController()
  const twice = stoppableStore(stoppableStore(inner, signal), signal)
  expect(originalOf(twice)).toBe(inner)
  damagedFiltersOf(inner).note('a')
  expect(damagedFiltersOf(twice).names()).toEqual(['a'])
})
