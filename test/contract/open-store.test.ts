import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

test('a folder is made, and a file in its place is refused', async () => {
  const path = join(folder, 'new', 'ledger')
  const store = await openStore(`local:${path}`)
  expect(store.label).toBe(`local:${path}`)
  expect(await store.list('')).toMatchObject({ objects: [] })
  await writeFile(join(folder, 'file'), '')
  await expect(openStore(`local:${join(folder, 'file')}`)).rejects.toMatchObject({ kind: 'unavailable' })
  await expect(openStore(`local:${join(folder, 'file', 'below')}`)).rejects.toMatchObject({ kind: 'unavailable' })
})
