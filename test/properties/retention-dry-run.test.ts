// What a dry run of settings says is what then happens: rows that are gone, files that a merge drops, revisions that cannot be
// opened any more. Each workspace lives for weeks of virtual time, with runs, refusals, merges and changes of settings.

import { describe, expect, test } from '@jest/globals'
import { isOperatingError } from '../../src/core/errors.js'
import { DAY_MS, HOUR_MS, instantMs, MINUTE_MS } from '../../src/core/time.js'
import { isExpired, RETENTION, type RetentionPolicy } from '../../src/projections/retention.js'
import type { LooseRow, TableName } from '../../src/projections/tables.js'
import { openAsOf } from '../../src/readers/as-of.js'
import { createReader, type View } from '../../src/readers/reader.js'
import { foreseeChange } from '../../src/readers/retention/foresee.js'
import type { Part } from '../../src/tables/revision.js'
import { readPointer } from '../../src/tables/snapshot.js'
import { createRandom } from '../fixtures/random.js'
import { merge } from '../fixtures/roles.js'
import { createScenario } from '../fixtures/scenario.js'
import { drawSettings } from '../fixtures/settings.js'
import { createWorker } from '../fixtures/worker.js'

const SEEDS = [1, 2, 3, 4, 5]
const STEPS = 24
/** Each opens a hundred revisions, one after the other. */
const TIMEOUT_MS = 120_000

async function workspaceOf(seed: number) {
  const random = createRandom(`retention dry run ${seed}`)
  const scenario = createScenario({ seed: `retention dry run ${seed}`, listing_window_ms: 500 * DAY_MS })
  const { world, writer, decider, say, tell, defineAssets } = scenario
  const { append } = writer()
  const { turn } = decider()
  const keeper = world.start('keeper')
  const worker = createWorker(world, world.start('worker'))
  const at = () => world.time.now()
  await tell(async () => {
    await defineAssets()
    // Longer than anybody keeps it by default, so that there is something to let go of.
    await append([say.retentionChanged({ idempotency_hours: 700, refusals_days: 30, as_of_minutes_hours: 100 }, { at: at() })])
    for (let step = 0; step < STEPS; step++) {
      await world.time.sleep(random.pick([3 * MINUTE_MS, 50 * MINUTE_MS, 7 * HOUR_MS, DAY_MS, 2 * DAY_MS]))
      await append([say.runRequested(`user:${seed}-${step}`, {}, { at: at() })])
      await append([say.poolRemoved('global', { at: at(), request: String(step) })])
      await turn()
      await worker.work()
      await turn()
      if (random.isTrue(0.4)) await merge(keeper, random.isTrue(0.3))
    }
  })
  return { ...scenario, random, append, turn, keeper, at }
}

const liveRows = async (view: View, table: TableName, fold_time: number, retention: RetentionPolicy): Promise<readonly LooseRow[]> =>
  (await view.page(table, { limit: 100_000 })).rows.filter((row) => !isExpired(table, row, fold_time, retention))

const partsOf = ({ snapshot }: View, table: TableName): readonly Part[] => snapshot.checkpoint.tables.get(table) ?? []

describe('a dry run of settings', () => {
  const seen = { rows: 0, files: 0, revisions: 0 }

  test.each(SEEDS)(
    'seed %i: rows, files and revisions are those that then go',
    async (seed) => {
      const { world, random, tell, say, append, turn, keeper, at } = await workspaceOf(seed)
      const reader = createReader({ store: world.bucket, files: world.files })
      const latest = async () => (await reader.latest()) as View
      await tell(async () => {
        // Meanwhile some goes by the settings that hold: a dry run does not count it.
        await world.time.sleep(12 * DAY_MS)
        const before = await latest()
        const lower = [{ idempotency_hours: 168 }, { refusals_days: 7 }, { outbox_days: 1, as_of_minutes_hours: 1 }]
        const asked = { ...drawSettings(random), ...random.pick(lower) }
        const opened_before = await openable(reader.tables, before.sequence)
        const effect = await foreseeChange(reader.tables, before, asked)
        await append([say.retentionChanged(asked, { at: at(), request: 'dry' })])
        const { sequence } = await turn()
        const after = await latest()
        const fold_time = instantMs(after.snapshot.revision.fold_time)
        for (const { table, rows, files, bytes, expired_before } of effect.expiring) {
          const were = await liveRows(before, table, fold_time, before.snapshot.revision.retention)
          const are = await liveRows(after, table, fold_time, after.snapshot.revision.retention)
          seen.rows += rows
          seen.files += files ?? 0
          const own = are.filter(({ row_version }) => row_version === sequence).length
          expect({ seed, asked, table, rows }).toEqual({ seed, asked, table, rows: were.length - (are.length - own) })
          if (files === null) continue
          await merge(keeper)
          const kept = new Set(partsOf(await latest(), table).map(({ period }) => period))
          const gone = partsOf(before, table).filter(({ period }) => period !== null && period >= expired_before && !kept.has(period))
          expect({ seed, table, files, bytes }).toEqual({
            seed,
            table,
            files: gone.length,
            bytes: gone.reduce((sum, part) => sum + part.bytes, 0),
          })
        }
        if (effect.as_of !== null) {
          seen.revisions += effect.as_of.now.revisions - effect.as_of.then.revisions
          expect({ seed, asked, now: effect.as_of.now.revisions }).toEqual({ seed, asked, now: opened_before.length })
          const opened = (await openable(reader.tables, before.sequence)).filter((one) => opened_before.includes(one))
          expect({ seed, asked, then: effect.as_of.then.revisions }).toEqual({ seed, asked, then: opened.length })
        }
        expect(effect.warnings.length).toBeGreaterThanOrEqual(effect.changes.length > 0 ? effect.changes.length : 1)
      })
    },
    TIMEOUT_MS,
  )

  test('together they have let something of each go', () => {
    expect(Object.entries(seen).filter(([, count]) => count === 0)).toEqual([])
  })

  test('of settings that are raised says that nothing comes back, and of those that hold that nothing changes', async () => {
    const { world, tell } = await workspaceOf(1)
    const reader = createReader({ store: world.bucket, files: world.files })
    await tell(async () => {
      const view = await reader.latest()
      const raised = await foreseeChange(reader.tables, view, { refusals_days: 60, as_of_hours_days: 60 })
      expect(raised).toMatchObject({ expiring: [{ table: 'refusals', rows: 0, files: 0 }] })
      expect(raised.as_of?.then).toEqual(raised.as_of?.now)
      expect(raised.warnings.join(' ')).toMatch(/Nothing comes back: rows of refusals from before .* Nothing comes back that was let go/)
      const same = await foreseeChange(reader.tables, view, { outbox_days: RETENTION.outbox_days })
      expect(same).toMatchObject({ changes: [], expiring: [], warnings: [expect.stringContaining('Nothing would change')] })
    })
  })
})

/** Of those up to this one, which were replaced more than an hour ago and can be opened. */
async function openable(tables: Parameters<typeof openAsOf>[0], up_to: number): Promise<readonly number[]> {
  const { server_time } = await readPointer(tables.store)
  const found: number[] = []
  const published: number[] = []
  for (let sequence = 1; sequence <= up_to; sequence++) {
    try {
      const { revision } = await openAsOf(tables, { sequence })
      published[sequence] = instantMs(revision.published_at)
      found.push(sequence)
    } catch (error) {
      if (!isOperatingError(error, 'missing')) throw error
    }
  }
  return found.filter((sequence) => {
    const next = found.find((one) => one > sequence)
    return next !== undefined && (published[next] as number) < server_time - HOUR_MS
  })
}
