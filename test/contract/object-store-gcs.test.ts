// The contract through the real @google-cloud/storage client against a real fake-gcs-server, and what that server does
// otherwise than Google's. Each deviation is asserted as it is: when one is repaired, its test says so by failing.

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createGcsStore } from '../../src/storage/gcs.js'
import { CREATE, type ObjectStore } from '../../src/storage/object-store.js'
import { openStore } from '../../src/storage/open.js'
import { type FakeGcs, startFakeGcs } from '../fixtures/fake-gcs.js'
import { testObjectStore } from './object-store.js'

const PAGE_SIZE = 50
const BYTES = new TextEncoder().encode('x')

let server: FakeGcs
beforeAll(async () => {
  server = await startFakeGcs()
}, 600_000)
afterAll(() => server.stop())

const open = (prefix: string): Promise<ObjectStore> =>
  createGcsStore({ bucket: server.bucket, api_endpoint: server.endpoint, page_size: PAGE_SIZE, prefix })

testObjectStore({
  name: 'gcs',
  open: async () => [await open('some/prefix'), await open('some/prefix')],
  page_size: PAGE_SIZE,
  deviations: { delete_ignores_generation: true },
})

test('known deviation: a name is written as often as anybody likes, where Google admits one write a second', async () => {
  const store = await open('often')
  let answer = await store.put('a', BYTES, { if_generation: CREATE })
  const began = performance.now()
  for (let i = 0; i < 5; i++) {
    if (answer.kind !== 'stored') break
    answer = await store.put('a', BYTES, { if_generation: answer.head.generation })
  }
  expect(performance.now() - began).toBeLessThan(5_000)
  expect(answer.kind).toBe('stored')
})

test('known deviation: a generation is the time in microseconds', async () => {
  const store = await open('generation')
  const answer = await store.put('a', BYTES, { if_generation: CREATE })
  if (answer.kind !== 'stored') throw new Error(`The put was answered ${answer.kind}.`)
  expect(Math.abs(Number(answer.head.generation) / 1_000 - Date.parse(answer.head.creation_time))).toBeLessThan(1_000)
})

test('a store is opened by its address, with its prefix', async () => {
  const store = await openStore(`gs://${server.bucket}/opened/here`, { gcs_endpoint: server.endpoint })
  expect(store.label).toBe(`gs://${server.bucket}/opened/here`)
  expect(await store.put('a', BYTES, { if_generation: CREATE })).toMatchObject({ kind: 'stored', head: { name: 'a' } })
  expect(await (await open('opened')).list('')).toMatchObject({ objects: [{ name: 'here/a' }] })
})

test('a bucket that is not there is missing, and a write into it too', async () => {
  const store = await createGcsStore({ bucket: 'not-there', api_endpoint: server.endpoint })
  await expect(store.list('a')).rejects.toMatchObject({ kind: 'missing', message: expect.stringContaining('no such bucket') })
  await expect(store.put('a', BYTES, { if_generation: CREATE })).rejects.toMatchObject({ kind: 'missing' })
})
