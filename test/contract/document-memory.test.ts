// A store that remembers documents: it answers what is in the store, and calls it as seldom as it may.

import { describe, expect, test } from '@jest/globals'
import { rememberDocuments } from '../../src/storage/document-memory.js'
import { createMemoryStore } from '../../src/storage/memory.js'
import { CREATE, type ObjectStore } from '../../src/storage/object-store.js'
import { originalOf } from '../../src/storage/stoppable.js'

const bytesOf = (text: string) => new TextEncoder().encode(text)

function world(bytes_max = 1_000) {
  const inner = createMemoryStore({ clock: { now: () => 0 } })
  const calls: string[] = []
  let isDamaged = false
  const watched: ObjectStore = {
    ...inner,
    async get(name) {
      calls.push(`get ${name}`)
      const answer = await inner.get(name)
      return isDamaged && answer.kind === 'found' ? { ...answer, bytes: bytesOf('damaged on its way') } : answer
    },
    head(name) {
      calls.push(`head ${name}`)
      return inner.head(name)
    },
  }
  const howLong = (name: string) => (name.startsWith('id/') ? 'for_ever' : name.startsWith('page/') ? 'while_there' : 'no')
  const store = rememberDocuments(watched, { bytes_max, howLong })
  const text = async (name: string) => {
    const answer = await store.get(name)
    return answer.kind === 'found' ? new TextDecoder().decode(answer.bytes) : undefined
  }
  const callsOf = async (work: () => Promise<unknown>) => {
    calls.length = 0
    await work()
    return [...calls]
  }
  return { inner, watched, store, text, callsOf, damage: (is: boolean) => void (isDamaged = is) }
}

const put = async (store: ObjectStore, name: string, text: string, if_generation = CREATE) => {
  const answer = await store.put(name, bytesOf(text), { if_generation })
  if (answer.kind !== 'stored') throw new Error(answer.kind)
  return answer.head.generation
}

describe('a document', () => {
  test('that never changes under its name is read once, and anything else each time', async () => {
    const { inner, text, callsOf } = world()
    await put(inner, 'id/1', 'one')
    await put(inner, 'pointer', 'here')
    expect(await text('id/1')).toBe('one')
    expect(await callsOf(() => text('id/1'))).toEqual([])
    await text('pointer')
    expect(await callsOf(() => text('pointer'))).toEqual(['get pointer'])
    expect(await text('id/2')).toBeUndefined()
    await put(inner, 'id/2', 'two')
    expect(await text('id/2')).toBe('two')
  })

  test('that may be another one costs a look at its generation, and is read again where it is', async () => {
    const { inner, text, callsOf } = world()
    const generation = await put(inner, 'page/1', 'one')
    await text('page/1')
    expect(await callsOf(() => text('page/1'))).toEqual(['head page/1'])
    await put(inner, 'page/1', 'another', generation)
    expect(await text('page/1')).toBe('another')
    const { objects } = await inner.list('page/')
    await inner.delete('page/1', { if_generation: objects[0]?.generation ?? '' })
    expect(await text('page/1')).toBeUndefined()
  })

  test('that was damaged on its way is not remembered', async () => {
    const { inner, text, damage } = world()
    await put(inner, 'id/1', 'one')
    damage(true)
    expect(await text('id/1')).toBe('damaged on its way')
    damage(false)
    expect(await text('id/1')).toBe('one')
  })

  test('that is written or deleted through it is forgotten, unless nothing else ever has its name', async () => {
    const { store, text } = world()
    const for_ever = await put(store, 'id/1', 'one')
    await text('id/1')
    await store.delete('id/1', { if_generation: for_ever })
    expect(await text('id/1')).toBe('one')
    const generation = await put(store, 'page/1', 'one')
    await text('page/1')
    const next = await put(store, 'page/1', 'two', generation)
    expect(await text('page/1')).toBe('two')
    await store.delete('page/1', { if_generation: next })
    expect(await text('page/1')).toBeUndefined()
  })
})

test('what was read longest ago goes where there are too many bytes', async () => {
  const { inner, text, callsOf } = world(10)
  for (const name of ['id/a', 'id/b', 'id/c']) await put(inner, name, 'four')
  await text('id/a')
  await text('id/b')
  await text('id/a')
  await text('id/c')
  expect(await callsOf(() => text('id/a'))).toEqual([])
  expect(await callsOf(() => text('id/b'))).toEqual(['get id/b'])
})

test('what the process knows of the store holds for it too', () => {
  const { watched, store } = world()
  expect(originalOf(store)).toBe(originalOf(watched))
})
