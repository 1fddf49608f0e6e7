// The lists of what is in a backup: whole, in order, and nearly the same where the backup is.

import { expect, test } from '@jest/globals'
import { openContents, openRecorder, type Recorded } from '../../src/compactor/backup/contents.js'
import { createMemoryStore } from '../../src/storage/memory.js'
import { PAGE_SIZE } from '../../src/storage/object-store.js'
import { createRandom } from '../fixtures/random.js'
import { createVirtualTime } from '../fixtures/virtual-time.js'
import { listAll } from '../invariants/evidence.js'

const SECTIONS = ['ledger/', 'chain/a', 'chain/b', 'state/'] as const
const EACH = 6_000

const byName = (left: Recorded, right: Recorded) => (left.name < right.name ? -1 : 1)

function made(seed: number): readonly (readonly Recorded[])[] {
  const random = createRandom(seed)
  return SECTIONS.map((section, at) => {
    // The two of the chain lie between each other.
    const prefix = section.startsWith('chain/') ? 'chain/' : section
    const names = new Set(Array.from({ length: EACH }, () => `${prefix}${Buffer.from(random.bytes(8)).toString('hex')}.${at}`))
    return [...names].sort().map((name) => ({ name, size: 1 + name.length, crc32c: '00c0ffee' }))
  })
}

test('lists have every object once, in order, by page and by name, and share what two backups have in common', async () => {
  const seed = 7
  const time = createVirtualTime()
  const clock = time.clock()
  const store = createMemoryStore({ clock })
  const sections = made(seed)
  async function record(wanted: (object: Recorded) => boolean): Promise<string> {
    const recorder = await openRecorder({ store, clock })
    for (const section of sections) {
      for (const object of section.filter(wanted)) await recorder.add(object)
      await recorder.endSection()
    }
    return (await recorder.finish()).sha256
  }
  await time.until(
    (async () => {
      const all = sections.flat()
      const first = await record(() => true)
      const list_count = (await listAll(store, '')).length
      expect(list_count).toBeGreaterThan(10)
      const contents = openContents(store, first)
      for (const prefix of ['', 'chain/', 'state/0', 'none/']) {
        const wanted = all.filter(({ name }) => name.startsWith(prefix)).sort(byName)
        const found: Recorded[] = []
        for (let page = await contents.page(prefix); page.length > 0; page = await contents.page(prefix, found.at(-1)?.name)) {
          expect(page.length).toBeLessThanOrEqual(PAGE_SIZE)
          found.push(...page)
        }
        expect([seed, prefix, found.map(({ name }) => name)]).toEqual([seed, prefix, wanted.map(({ name }) => name)])
      }
      for (const object of [all[0], all[EACH + 3], all[3 * EACH - 2], all.at(-1)]) {
        expect(await contents.find(object?.name ?? '')).toEqual(object)
      }
      expect(await contents.find('chain/none')).toBeUndefined()
      // The oldest goes, and everything behind it moves up.
      const gone = sections[0]?.[0]?.name
      const second = await record(({ name }) => name !== gone)
      expect(await openContents(store, second).find(gone ?? '')).toBeUndefined()
      expect((await listAll(store, '')).length).toBe(list_count + 2)
      expect(await record(() => true)).toBe(first)
      expect((await listAll(store, '')).length).toBe(list_count + 2)
    })(),
  )
})
