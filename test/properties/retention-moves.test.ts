// Rows that a dry run says would move to cold parts are those that the next merge then moves.

import { describe, expect, test } from '@jest/globals'
import { DAY_MS } from '../../src/core/time.js'
import type { TableName } from '../../src/projections/tables.js'
import { createReader, type View } from '../../src/readers/reader.js'
import { foreseeChange } from '../../src/readers/retention/foresee.js'
import { createRandom } from '../fixtures/random.js'
import { merge } from '../fixtures/roles.js'
import { createScenario } from '../fixtures/scenario.js'
import { createWorker } from '../fixtures/worker.js'

const TIMEOUT_MS = 120_000

const coldRows = ({ snapshot }: View, table: TableName): number =>
  (snapshot.checkpoint.cold.get(table) ?? []).reduce((sum, { rows }) => sum + rows, 0)

describe('a dry run of cold_after_days', () => {
  test.each([1, 2, 3])(
    'seed %i: the rows that it names move with the next merge',
    async (seed) => {
      const random = createRandom(`retention moves ${seed}`)
      const { world, writer, decider, say, tell, defineAssets } = createScenario({ seed: `moves ${seed}`, listing_window_ms: 500 * DAY_MS })
      const { append } = writer()
      const { turn } = decider()
      const keeper = world.start('keeper')
      const worker = createWorker(world, world.start('worker'))
      const reader = createReader({ store: world.bucket, files: world.files })
      const latest = async () => (await reader.latest()) as View
      await tell(async () => {
        await defineAssets()
        for (let step = 0; step < 16; step++) {
          await world.time.sleep(random.pick([0.2, 0.7, 1.3]) * DAY_MS)
          await append([say.runRequested(`user:${step}`, {}, { at: world.time.now() })])
          await turn()
          await worker.work()
          await turn()
          if (random.isTrue(0.4)) await merge(keeper)
        }
        // All that is due by what holds has moved.
        await merge(keeper, true)
        const before = await latest()
        const { moving } = await foreseeChange(reader.tables, before, { cold_after_days: 2 })
        expect(moving.reduce((sum, { rows }) => sum + rows, 0)).toBeGreaterThan(0)
        await append([say.retentionChanged({ cold_after_days: 2 }, { at: world.time.now() })])
        await turn()
        await merge(keeper, true)
        const after = await latest()
        for (const { table, rows } of moving) {
          expect({ seed, table, rows }).toEqual({ seed, table, rows: coldRows(after, table) - coldRows(before, table) })
        }
        const back = await foreseeChange(reader.tables, after, { cold_after_days: 30 })
        expect(back.moving.every(({ rows }) => rows === 0)).toBe(true)
      })
    },
    TIMEOUT_MS,
  )
})
