// What `tail --follow` shows goes by the store's time, and a clock that steps back shows nothing twice.

import { expect, test } from '@jest/globals'
import { unavailable } from '../../src/core/errors.js'
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.js'
import { newUlid } from '../../src/core/ulid.js'
import { segmentObjectName } from '../../src/ledger/segment.js'
import { followTail } from '../../src/readers/tail.js'
import { createMemoryStore } from '../../src/storage/memory.js'
import { createRandom } from '../fixtures/random.js'
import { createSpeaker, NOW, TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'

test('each event is shown once, whatever the clocks do', async () => {
  let store_now = NOW
  const memory = createMemoryStore({ clock: { now: () => store_now } })
  const random = createRandom(1)
  const bytes = (count: number) => random.bytes(count)
  const say = createSpeaker()
  async function append(pool: string): Promise<void> {
    const id = newUlid(store_now, bytes)
    const batches = [{ batch_id: id, events: [say.poolDefined(`pool:${pool}`, 1)] }]
    const segment = { schema: 'servo-segment-v1', tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID, batches }
    const text = JSON.stringify({ ...segment, write_id: id, written_at: new Date(store_now).toISOString() })
    await memory.put(segmentObjectName(newUlid(store_now, bytes)), Buffer.from(text), { if_generation: '0' })
  }
  for (const [pool, at] of [
    ['old', -30 * MINUTE_MS],
    ['new', 0],
  ] as const) {
    store_now = NOW + at
    await append(pool)
  }
  // Between two looks: the store's clock goes on, steps back, does not answer, and comes to itself.
  const script = [
    async () => append('one'),
    async () => {
      store_now = NOW + 20 * MINUTE_MS
      await append('two')
    },
    async () => {
      store_now = NOW - 29 * MINUTE_MS
      await append('back')
    },
    async () => undefined,
    async () => {
      failing = 2
    },
    async () => append('three'),
    async () => {
      store_now = NOW + 40 * MINUTE_MS
    },
    async () => undefined,
  ]
  let failing = 0
  const troubles: unknown[] = []
  const store = {
    ...memory,
    async list(prefix: string, start_after?: string) {
      if (failing-- > 0) throw unavailable('No answer.')
      return { ...(await memory.list(prefix, start_after)), server_time: store_now }
    },
  }
  const shown: unknown[] = []
  const following = followTail(
    {
      store,
      scope: { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID },
      // This machine is a day ahead.
      clock: { now: () => NOW + 24 * HOUR_MS, elapsed: () => 0, sleep: async () => void (await script.shift()?.()) },
      onTrouble(error) {
        troubles.push(error)
        return 1
      },
    },
    1,
    () => script.length === 0,
  )
  for await (const { event } of following) shown.push((event as { payload?: { pool_key: string } }).payload?.pool_key)
  expect(shown).toEqual(['new', 'one', 'two', 'back', 'three'].map((pool) => `pool:${pool}`))
  expect(troubles).toHaveLength(2)
})
