// What packing needs of a store, on every one of them: the same ledger is packed, read back and packed again.

import { describe, expect, test } from '@jest/globals'
import { systemClock, systemRandom } from '../../src/bin/clock.js'
import { collectPacks } from '../../src/compactor/packs/collect.js'
import { packSegments } from '../../src/compactor/packs/pack.js'
import { openRecorded } from '../../src/compactor/packs/recorded.js'
import { verify } from '../../src/compactor/verify.js'
import { readSegment } from '../../src/ledger/read.js'
import { LEDGER_PREFIX, segmentName, segmentObjectName } from '../../src/ledger/segment.js'
import { readTail } from '../../src/readers/tail.js'
import { CREATE, type ObjectStore } from '../../src/storage/object-store.js'
import { PAGE_REVISIONS, PAGES, SEGMENTS_PER_REVISION, writeOldLedger } from '../fixtures/old-ledger.js'
import { indexNames, PACKS, packedSegments } from '../fixtures/packs.js'
import { createPlainFiles } from '../fixtures/plain-files.js'
import { TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'
import { listAll } from '../invariants/evidence.js'

const scope = { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID }
const PACKED = PAGES * PAGE_REVISIONS * SEGMENTS_PER_REVISION
const ALL = PACKED + SEGMENTS_PER_REVISION

export function testPacks(name: string, open: (prefix: string) => Promise<ObjectStore>): void {
  describe(`packs on ${name}`, () => {
    const depsOf = (store: ObjectStore) => ({ store, clock: systemClock, random: systemRandom() })
    const singles = async (store: ObjectStore) => (await listAll(store, LEDGER_PREFIX)).map((head) => segmentName(head.name))
    /** Without the stamps: the ledger says that it is older than its objects are. */
    const tail = async (store: ObjectStore) =>
      (await readTail({ store, scope, clock: systemClock }, 10_000)).map(({ creation_time: _, ...entry }) => entry)
    const verified = (store: ObjectStore) => verify({ store, files: createPlainFiles({ store }), scope })

    test('hold what was written, byte for byte, and every reader finds it', async () => {
      const store = await open('whole')
      const { revisions, bodies } = await writeOldLedger(store, scope)
      const before = await tail(store)
      const was = await verified(store)
      expect(was).toMatchObject({ problems: [], segments: { folded: ALL, packed: 0 } })
      const answer = await packSegments(depsOf(store))
      expect(answer).toMatchObject({ page_count: PAGES, segment_count: PACKED, pack_count: PAGES, deleted_count: PACKED, left: [] })
      expect(await singles(store)).toEqual(revisions.at(-1)?.segments.map((segment) => segment.name))
      const history = openRecorded(store, PAGE_REVISIONS)
      for (const revision of revisions) {
        const found = await history(revision)
        for (const [at, segment] of revision.segments.entries()) {
          const bytes = Buffer.from(bodies.get(segment.name) as Uint8Array)
          expect(bytes.equals(found[at] as Uint8Array)).toBe(true)
          expect(bytes.equals(await readSegment(store, segmentObjectName(segment.name), segment.crc32c))).toBe(true)
        }
      }
      expect(await verified(store)).toEqual({ ...was, segments: { ...was.segments, packed: PACKED } })
      expect(await tail(store)).toEqual(before)
      expect((await packedSegments(store)).size).toBe(PACKED)
      expect(await packSegments(depsOf(store), { whole: true })).toMatchObject({ page_count: 0, deleted_count: 0, left: [] })
      expect(await collectPacks(store)).toEqual({ packs_deleted_count: 0 })
      expect(await listAll(store, PACKS)).toHaveLength(PAGES)
    })

    test('are made once by two that pack at the same time', async () => {
      const store = await open('twice')
      await writeOldLedger(store, scope)
      await Promise.all([packSegments(depsOf(store)), packSegments(depsOf(store))])
      expect(await packSegments(depsOf(store), { whole: true })).toMatchObject({ left: [] })
      expect(await indexNames(store)).toHaveLength(PAGES)
      expect(await singles(store)).toHaveLength(ALL - PACKED)
      expect(await verified(store)).toMatchObject({ problems: [], segments: { packed: PACKED } })
    })

    test('are left alone by whoever writes a segment under a name that is packed', async () => {
      const store = await open('again')
      const { revisions } = await writeOldLedger(store, scope)
      await packSegments(depsOf(store))
      const { name, crc32c } = revisions[0]?.segments[0] as { name: string; crc32c: string }
      expect(await store.put(segmentObjectName(name), Buffer.from('else'), { if_generation: CREATE })).toMatchObject({ kind: 'stored' })
      expect(await packSegments(depsOf(store), { whole: true })).toMatchObject({ deleted_count: 0, left: [] })
      expect((await readSegment(store, segmentObjectName(name), crc32c)).byteLength).toBeGreaterThan(4)
      expect(await verified(store)).toMatchObject({ problems: [], strays: [segmentObjectName(name)] })
    })
  })
}
