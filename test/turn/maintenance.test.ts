// What the maintenance activity does of packing: by the clock and not for a merge alone, before collection, with the reason in
// the log where a page was left.

import { expect, test } from '@jest/globals'
import { asyncLocalStorage, type Context } from '@temporalio/activity'
import { createMaintenance } from '../../src/activities/maintenance.js'
import { systemClock, systemRandom } from '../../src/bin/clock.js'
import { HOUR_MS } from '../../src/core/time.js'
import { segmentObjectName } from '../../src/ledger/segment.js'
import { createMemoryStore } from '../../src/storage/memory.js'
import { writeOldLedger } from '../fixtures/old-ledger.js'
import { packedSegments } from '../fixtures/packs.js'
import { createPlainFiles } from '../fixtures/plain-files.js'
import { TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'

const scope = { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID }

test('maintenance packs by the clock, and says which page it left', async () => {
  const store = createMemoryStore({ clock: systemClock })
  const { revisions } = await writeOldLedger(store, scope)
  const { name, generation } = revisions[0]?.segments[0] as { name: string; generation: string }
  await store.delete(segmentObjectName(name), { if_generation: generation })
  const log: string[] = []
  const deps = { store, files: createPlainFiles({ store }), clock: systemClock, random: systemRandom(), scope, listing_window_ms: HOUR_MS }
  const { maintain } = createMaintenance({ ...deps, log: (line) => log.push(line) })
  // All that the activity asks of Temporal is to beat.
  const beating = { heartbeat: () => undefined } as unknown as Context
  const run = (call: { readonly merge: boolean; readonly collect: boolean }) =>
    asyncLocalStorage.run(beating, () => maintain({ ...scope, ...call }))
  expect(await run({ merge: false, collect: false })).toMatchObject({ packed_segments: 0 })
  expect(await run({ merge: false, collect: true })).toMatchObject({ packed_segments: 9, missed: [] })
  expect((await packedSegments(store)).size).toBe(9)
  expect(log).toEqual([`Page 0 of the chain is left as it is: segment ${name} is gone. Restore it from a copy.`])
})
