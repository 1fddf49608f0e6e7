import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openStore, storeFault } from '../../src/storage/open.js'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servo-open-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test.each([
  ['', 'of no known kind'],
  ['/data/ledger', 'of no known kind'],
  ['s3://bucket/prefix', 'of no known kind'],
  ['local:', 'names no folder'],
  ['gs://', 'names no valid bucket'],
  ['gs:///prefix', 'names no valid bucket'],
  ['gs://Bucket/prefix', 'names no valid bucket'],
  ['gs://bucket//prefix', 'doubled slash'],
])('%j is no store, and the sentence says why', async (text, why) => {
  expect(storeFault(text)).toContain(why)
  await expect(openStore(text)).rejects.toMatchObject({ kind: 'unavailable', message: storeFault(text) })
})

test.each(['local:.', 'local:/data/ledger', 'gs://bucket', 'gs://bucket/', 'gs://bucket/some/prefix/'])('%j is a store', (text) => {
  expect(storeFault(text)).toBeUndefined()
})

test('a folder is made by the first write, and a file in its place is refused', async () => {
  const path = join(folder, 'new', 'ledger')
  const store = await openStore(`local:${path}`)
  expect(store.label).toBe(`local:${path}`)
  expect(await store.list('')).toMatchObject({ objects: [] })
  expect(await store.get('a')).toMatchObject({ kind: 'absent' })
  expect(await store.head('a')).toMatchObject({ kind: 'absent' })
  expect(await readdir(folder)).toEqual([])
  expect(await store.put('a', new Uint8Array(1), { if_generation: '0' })).toMatchObject({ kind: 'stored' })
  expect(await (await openStore(`local:${path}`, { access: 'read' })).get('a')).toMatchObject({ kind: 'found' })
  await writeFile(join(folder, 'file'), '')
  await expect(openStore(`local:${join(folder, 'file')}`)).rejects.toMatchObject({ kind: 'unavailable' })
  await expect(openStore(`local:${join(folder, 'file', 'below')}`)).rejects.toMatchObject({ kind: 'unavailable' })
})

test('who only reads is told that a folder is not there, and makes none', async () => {
  const path = join(folder, 'mistyped', 'ledger')
  await expect(openStore(`local:${path}`, { access: 'read' })).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining(`There is no folder ${path}`),
  })
  expect(await readdir(folder)).not.toContain('mistyped')
})

test('a place where no folder can be made ends with a sentence', async () => {
  // Node's own recursive mkdir never ends here: a folder of processes says that what is not there is not there.
  const store = await openStore('local:/proc/1/nothing/below')
  await expect(store.put('a', new Uint8Array(1), { if_generation: '0' })).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('/proc/1/nothing'),
  })
})
