// A listing of the local store opens the folders whose names it needs, however long the history beside them is.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sha256, sha256Hex } from '../../src/core/hash.js'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.js'
import { ulidAt, ulidTimePrefix } from '../../src/core/ulid.js'
import { createLocalStore } from '../../src/storage/local.js'
import { createFolderCache, listPage } from '../../src/storage/local-list.js'
import { CREATE } from '../../src/storage/object-store.js'

const NOW = Date.parse('2025-01-15T10:00:00.000Z')
const LEDGER = 'tenant=acme/workspace=prod/ledger/orchestration/'
const REVISIONS = 'tenant=acme/workspace=prod/manifests/orchestration/revisions/'
const LISTS = 'tenant=acme/workspace=prod/lists/'

let folder = ''
let root = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servo-list-'))
  root = join(folder, 'store')
  const store = createLocalStore({ folder: root, sync: false })
  const put = (name: string) => store.put(name, new Uint8Array(0), { if_generation: CREATE })
  // Two years, a segment every twelve hours; then the last half hour, five a minute.
  for (let at = NOW - 730 * DAY_MS; at < NOW - HOUR_MS; at += 12 * HOUR_MS) await put(segmentName(at, 0))
  for (let at = NOW - 30 * MINUTE_MS; at < NOW; at += MINUTE_MS) for (let i = 0; i < 5; i++) await put(segmentName(at, i))
  for (let sequence = 1; sequence <= 12_000; sequence += 11) await put(`${REVISIONS}${sequence}-${ulidAt(NOW, digestOf(sequence))}.json`)
  for (let i = 0; i < 300; i++) await put(`${LISTS}${sha256Hex(String(i))}.json`)
}, 60_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

const digestOf = (value: unknown): Uint8Array => sha256(String(value)).subarray(0, 10)
const segmentName = (at: number, i: number): string => `${LEDGER}${ulidAt(at, digestOf(`${at}/${i}`))}.json`

/** What a process that has read nothing yet has to read. */
function list(prefix: string, start_after?: string) {
  const cache = createFolderCache()
  const page = listPage(cache, { root, prefix, start_after, page_size: 1_000, now_ms: NOW, file_system_now_ms: Date.now() })
  const folders = [...cache.folders.values()]
  return {
    objects: page.objects,
    folders: folders.length,
    entries: folders.reduce((sum, one) => sum + one.entries.length + one.folders.length, 0),
  }
}

test('from a minute on it reads these minutes and the way to them, and nothing of the years before', () => {
  const { objects, folders, entries } = list(LEDGER, `${LEDGER}${ulidTimePrefix(NOW - 6 * MINUTE_MS)}`)
  expect(objects).toHaveLength(6 * 5)
  expect(folders).toBeLessThan(25)
  expect(entries).toBeLessThan(250)
})

test('from a sequence on it reads these revisions, in the order of the names', () => {
  const sequencesOf = ({ objects }: ReturnType<typeof list>) =>
    objects.map(({ name }) => Number(name.slice(REVISIONS.length).split('-')[0]))
  const last = list(REVISIONS, `${REVISIONS}9900-`)
  expect(sequencesOf(last)).toEqual([9901, 991, 9912, 9923, 9934, 9945, 9956, 9967, 9978, 9989])
  expect(last.folders).toBeLessThan(12)
  const some = list(`${REVISIONS}1199`)
  expect(sequencesOf(some)).toEqual([11991])
  expect(some.folders).toBeLessThan(12)
})

test('one digest is one folder of 256', () => {
  const { objects, folders } = list(`${LISTS}${sha256Hex('7').slice(0, 2)}`)
  expect(objects.map(({ name }) => name)).toContain(`${LISTS}${sha256Hex('7')}.json`)
  expect(folders).toBe(2)
})

test('no folder has more than 1,024 entries', async () => {
  const sizes: number[] = []
  const walk = async (path: string): Promise<void> => {
    const entries = await readdir(path, { withFileTypes: true })
    sizes.push(entries.length)
    for (const entry of entries) if (entry.isDirectory()) await walk(join(path, entry.name))
  }
  await walk(root)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1_024)
})

test('a folder that has not changed is not read again, and one that has is', async () => {
  const cache = createFolderCache()
  const look = () =>
    listPage(cache, {
      root,
      prefix: LEDGER,
      start_after: segmentName(NOW - 2 * MINUTE_MS, 0),
      page_size: 1_000,
      now_ms: NOW,
      file_system_now_ms: Date.now() + 1_000,
    })
  const first = look()
  const folders = new Map(cache.folders)
  expect(look().objects).toEqual(first.objects)
  expect([...cache.folders].every(([path, one]) => folders.get(path) === one)).toBe(true)
  const name = segmentName(NOW - MINUTE_MS, 99)
  await createLocalStore({ folder: root, sync: false }).put(name, new Uint8Array(0), { if_generation: CREATE })
  const again = look().objects.map((head) => head.name)
  expect(again).toEqual([...first.objects.map((head) => head.name), name].sort())
  expect([...cache.folders].filter(([path, one]) => folders.get(path) !== one)).toHaveLength(1)
})

test('a folder that nobody asked for within a minute is forgotten, and one that is asked for stays', () => {
  const cache = createFolderCache()
  const look = (now_ms: number, from_ms: number) =>
    listPage(cache, {
      root,
      prefix: LEDGER,
      start_after: segmentName(from_ms, 0),
      page_size: 1_000,
      now_ms,
      file_system_now_ms: Date.now() + 1_000,
    }).objects.length
  const later = NOW - 2 * MINUTE_MS
  const held = () => [...cache.folders.values()].reduce((sum, { entries }) => sum + entries.length + 1, 0)
  const all = look(NOW, NOW - 30 * MINUTE_MS)
  const whole = cache.folders.size
  for (const now_ms of [NOW + 20_000, NOW + 40_000]) look(now_ms, later)
  expect(cache.folders.size).toBe(whole)
  const before = new Map(cache.folders)
  const found = look(NOW + MINUTE_MS, later)
  expect(cache.folders.size).toBeLessThan(whole)
  expect(cache.entries).toBe(held())
  // What was asked for meanwhile is not read again, and what was forgotten is found as before.
  expect([...cache.folders].every(([path, folder]) => before.get(path) === folder)).toBe(true)
  expect(look(NOW + MINUTE_MS, later)).toBe(found)
  expect(look(NOW + MINUTE_MS, NOW - 30 * MINUTE_MS)).toBe(all)
})
