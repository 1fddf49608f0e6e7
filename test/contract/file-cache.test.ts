// Copies of table files on local disk: compared before use, shared by processes, bounded, and never pulled from under a reader.

import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { isOperatingError } from '../../src/core/errors.js'
import { crc32cHex } from '../../src/core/hash.js'
import { createLocalStore } from '../../src/storage/local.js'
import { createMemoryStore } from '../../src/storage/memory.js'
import { CREATE, type ObjectStore } from '../../src/storage/object-store.js'
import { createFileCache } from '../../src/tables/cache.js'
import { encodeRows } from '../../src/tables/parquet.js'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servo-cache-test-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const FILE_BYTES = 1_000

/** A store that counts what is read from it, with files of a thousand bytes. */
async function storeWith(names: readonly string[], label = 'memory:') {
  const store = createMemoryStore({ clock: Date, label })
  const reads: string[] = []
  const counting: ObjectStore = { ...store, get: (name) => store.get(reads[reads.push(name) - 1] as string) }
  const files = []
  for (const name of names) {
    const bytes = Buffer.alloc(FILE_BYTES, `${label}${name}`)
    await store.put(name, bytes, { if_generation: CREATE })
    files.push({ name, bytes: bytes.length, crc32c: crc32cHex(bytes) })
  }
  return { store: counting, reads, files }
}

const copies = () => (existsSync(folder) ? readdirSync(folder) : [])

describe('a cache of table files', () => {
  test('reads a file once, however many ask for it at once', async () => {
    const { store, reads, files } = await storeWith(['a.parquet', 'b.parquet'])
    const cache = createFileCache({ store, folder: join(folder, 'not', 'there'), bytes_max: 10_000 })
    const [a] = files as [(typeof files)[0]]
    const paths = await Promise.all([cache.path(a), cache.path(a), cache.path(a)])
    const held = await cache.hold(files)
    expect(new Set(paths).size).toBe(1)
    expect(held.paths[0]).toBe(paths[0])
    expect(readFileSync(held.paths[1] as string).toString()).toContain('b.parquet')
    expect(reads).toEqual(['a.parquet', 'b.parquet'])
    held.release()
  })

  test('is shared: another process finds the copies, and two stores never meet', async () => {
    const one = await storeWith(['a.parquet'], 'memory:one')
    const two = await storeWith(['a.parquet'], 'memory:two')
    const open = ({ store }: { store: ObjectStore }) => createFileCache({ store, folder, bytes_max: 10_000 })
    const first = await open(one).path(one.files[0] as never)
    expect(await open(one).path(one.files[0] as never)).toBe(first)
    expect(one.reads).toHaveLength(1)
    const second = await open(two).path(two.files[0] as never)
    expect(readFileSync(first).toString()).toContain('one')
    expect(readFileSync(second).toString()).toContain('two')
  })

  test('replaces a copy that is damaged, and asks twice before it calls the store damaged', async () => {
    const { store, reads, files } = await storeWith(['a.parquet'])
    const [a] = files as [(typeof files)[0]]
    const open = () => createFileCache({ store, folder, bytes_max: 10_000 })
    const path = await open().path(a)
    writeFileSync(path, 'torn')
    expect(readFileSync(await open().path(a)).toString()).toContain('a.parquet')
    expect(reads).toHaveLength(2)
    const error = await open()
      .path({ ...a, crc32c: '00000000' })
      .catch((thrown: unknown) => thrown)
    expect(isOperatingError(error, 'corrupt')).toBe(true)
    expect(String(error)).toContain('a.parquet in memory: has the checksum')
    expect(reads).toHaveLength(4)
  })

  test('takes one damaged answer for an accident', async () => {
    const { store, files } = await storeWith(['a.parquet'])
    let answers = 0
    const flaky: ObjectStore = {
      ...store,
      async get(name) {
        const answer = await store.get(name)
        return answers++ === 0 && answer.kind === 'found' ? { ...answer, bytes: answer.bytes.subarray(1) } : answer
      },
    }
    const path = await createFileCache({ store: flaky, folder, bytes_max: 10_000 }).path(files[0] as never)
    expect(statSync(path).size).toBe(FILE_BYTES)
  })

  test.each([
    { megabytes: 1, together: 6 },
    { megabytes: 9, together: 1 },
    { megabytes: 40, together: 1 },
  ])('reads $together of six files of $megabytes MB at a time', async ({ megabytes, together }) => {
    const { store, files } = await storeWith(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}.parquet`))
    let now = 0
    let most = 0
    let open = () => {}
    const isFull = new Promise<void>((resolve) => (open = resolve))
    const watched: ObjectStore = {
      ...store,
      async get(name) {
        most = Math.max(most, ++now)
        if (now === together) open()
        await isFull
        // Whoever else would come comes within a few rounds of the event loop.
        for (let round = 0; round < 20; round++) await new Promise((resolve) => setImmediate(resolve))
        now--
        return store.get(name)
      },
    }
    const cache = createFileCache({ store: watched, folder, bytes_max: 10_000 })
    const held = await cache.hold(files.map((file) => ({ ...file, bytes: megabytes * 1_024 ** 2 })))
    expect([held.paths.length, most]).toEqual([6, together])
    held.release()
  })

  test('says that a file is gone, and finds it when it is there again', async () => {
    const { store, files } = await storeWith(['a.parquet'])
    const cache = createFileCache({ store, folder, bytes_max: 10_000 })
    const late = { name: 'late.parquet', bytes: FILE_BYTES, crc32c: (files[0] as { crc32c: string }).crc32c }
    const error = await cache.hold([files[0] as never, late]).catch((thrown: unknown) => thrown)
    expect(isOperatingError(error, 'missing')).toBe(true)
    expect(String(error)).toContain('Read the pointer again')
    const answer = await store.get('a.parquet')
    if (answer.kind === 'found') await store.put('late.parquet', answer.bytes, { if_generation: CREATE })
    expect(existsSync(await cache.path(late))).toBe(true)
  })

  test('stays within its bounds: what was used longest ago goes, what is held stays', async () => {
    const names = Array.from({ length: 8 }, (_, i) => `${i}.parquet`)
    const { store, files } = await storeWith(names)
    let now = 1_700_000_000_000
    const cache = createFileCache({ store, folder, bytes_max: 4 * FILE_BYTES, clock: { now: () => now } })
    const held = await cache.hold(files.slice(0, 1))
    const paths = [...held.paths]
    for (const file of files.slice(1, 4)) {
      now += 3_600_000
      paths.push(await cache.path(file))
      utimesSync(paths.at(-1) as string, now / 1_000, now / 1_000)
    }
    expect(copies()).toHaveLength(4)
    now += 3_600_000
    await cache.path(files[4] as never)
    // Eviction makes room for a tenth more than it must: 5,000 bytes become 3,000.
    expect(paths.map(existsSync)).toEqual([true, false, false, true])
    expect(copies()).toHaveLength(3)
    // It comes back when it is asked for.
    expect(existsSync(await cache.path(files[1] as never))).toBe(true)
    held.release()
    for (const file of files) await cache.path(file)
    expect(copies().length).toBeLessThanOrEqual(4)
    expect(existsSync(paths[0] as string)).toBe(false)
  })

  test('removes what a killed process left half written, when it needs the room', async () => {
    const { store, files } = await storeWith(['a.parquet', 'b.parquet'])
    const [old, young] = [join(folder, 'x.1-0.part'), join(folder, 'y.1-0.part')]
    for (const path of [old, young]) writeFileSync(path, Buffer.alloc(FILE_BYTES))
    utimesSync(old, 1, 1)
    const cache = createFileCache({ store, folder, bytes_max: 1_500 })
    for (const file of files) await cache.path(file)
    expect([existsSync(old), existsSync(young)]).toEqual([false, true])
  })

  test('looks again for a copy that another process removed, once it is told', async () => {
    const { store, reads, files } = await storeWith(['a.parquet'])
    const cache = createFileCache({ store, folder, bytes_max: 10_000 })
    const path = await cache.path(files[0] as never)
    await rm(path)
    cache.forget(files)
    expect(await cache.path(files[0] as never)).toBe(path)
    expect(existsSync(path)).toBe(true)
    expect(reads).toHaveLength(2)
  })

  test('copies nothing where the store has plain files, and compares those', async () => {
    const store = createLocalStore({ folder: join(folder, 'store'), sync: false })
    const bytes = await parquetBytes()
    await store.put('a.parquet', bytes, { if_generation: CREATE })
    const a = { name: 'a.parquet', bytes: bytes.length, crc32c: crc32cHex(bytes) }
    const open = () => createFileCache({ store, folder: join(folder, 'copies'), bytes_max: 10_000 })
    const path = await open().path(a)
    expect(path.startsWith(join(folder, 'store'))).toBe(true)
    expect(existsSync(join(folder, 'copies'))).toBe(false)
    const damaged = readFileSync(path)
    damaged.writeUInt8(damaged.readUInt8(20) ^ 1, 20)
    writeFileSync(path, damaged)
    await expect(open().path(a)).rejects.toThrow('a.parquet in local:')
    await expect(open().path({ ...a, name: 'b.parquet' })).rejects.toThrow('b.parquet is not in local:')
  })

  test('copies from a store whose folder has a name that a query would take for a pattern', async () => {
    const store = createLocalStore({ folder: join(folder, 'store[1]'), sync: false })
    const bytes = await parquetBytes()
    await store.put('a.parquet', bytes, { if_generation: CREATE })
    const cache = createFileCache({ store, folder: join(folder, 'copies'), bytes_max: 10_000 })
    expect(await cache.path({ name: 'a.parquet', bytes: bytes.length, crc32c: crc32cHex(bytes) })).toContain('copies')
  })
})

async function parquetBytes(): Promise<Uint8Array> {
  const name = { kind: 'SENSOR', name: 'a', entity_id: 'e', taken_at: 1, released_at: null, row_version: 1, last_event_id: 'e' }
  return (await encodeRows('names', { tenant_id: 'acme', workspace_id: 'prod' }, [name])).bytes
}
