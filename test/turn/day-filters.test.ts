// The filters over the hours of finished days of idempotency keys: when they are made, what they save, and that they go with
// the day and never speak for a part that they are not over.

import { beforeAll, describe, expect, test } from '@jest/globals'
import { partsByFilter } from '../../src/compactor/base/filters.js'
import { verify } from '../../src/compactor/verify.js'
import { DAY_MS, floorTo, HOUR_MS } from '../../src/core/time.js'
import type { RowKey } from '../../src/projections/tables.js'
import { createFilterCache, lookupRows } from '../../src/tables/lookup.js'
import type { Part } from '../../src/tables/revision.js'
import { openSnapshot, partsOf, readPointer, type Snapshot } from '../../src/tables/snapshot.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { collect, merge } from '../fixtures/roles.js'
import { createScenario } from '../fixtures/scenario.js'
import { listAll } from '../invariants/evidence.js'

const DAYS = 10
const EVERY_HOURS = 3

describe('a week and a half of idempotency keys', () => {
  const scenario = createScenario({ seed: 'day filters' })
  const { world } = scenario
  const said: string[] = []

  async function snapshot(): Promise<Snapshot> {
    const { published } = await readPointer(world.bucket)
    return openSnapshot({ store: world.bucket, files: world.files }, published?.pointer as never)
  }
  const keyParts = async (): Promise<readonly Part[]> => partsOf(await snapshot(), 'idempotency_keys')
  const dayOf = ({ period }: Part): number => floorTo(period as number, DAY_MS)

  beforeAll(async () => {
    const { append } = scenario.writer()
    const keeper = world.start('keeper')
    await scenario.tell(async () => {
      const { turn } = scenario.decider('decider', { reconcile: foldOnly })
      for (let hour = 0; hour < DAYS * 24; hour += EVERY_HOURS) {
        const event = scenario.say.runRequested(`user:${hour}`, {}, { at: world.time.now() })
        said.push(event.idempotency_key)
        await append([event])
        await turn()
        await merge(keeper)
        await world.time.sleep(EVERY_HOURS * HOUR_MS)
      }
    })
  }, 120_000)

  test('have one filter a finished day, and none of today', async () => {
    const parts = await keyParts()
    const days = [...new Set(parts.map(dayOf))].sort((left, right) => left - right)
    expect(days.length).toBeGreaterThan(7)
    const today = days.at(-1)
    for (const day of days) {
      const filters = new Set(parts.filter((part) => dayOf(part) === day).map(({ day_filter }) => day_filter))
      expect([filters.size, filters.has(undefined)]).toEqual([1, day === today])
    }
  })

  test('are asked by the day: of a key that is nowhere no hour of a finished one', async () => {
    // An hour has a key or two here: as if each had keys from all over, so that none is left out by them.
    const parts = (await keyParts()).map((part) => ({ ...part, min_key: [''], max_key: ['\uffff'] }))
    const asked: (string | null)[] = []
    const filters = createFilterCache({ store: world.bucket })
    const source = {
      files: world.files,
      table: 'idempotency_keys',
      parts,
      filters: (part: Pick<Part, 'filter'>) => {
        asked.push(part.filter)
        return filters(part)
      },
      overlay: () => undefined,
    } as const
    const nowhere: RowKey = ['run_requested:nowhere']
    expect(await lookupRows(source, [nowhere])).toEqual([])
    const ofDays = new Set(parts.flatMap(({ day_filter }) => day_filter ?? []))
    const hours = parts.filter(({ day_filter }) => day_filter !== undefined)
    expect(asked.filter((name) => ofDays.has(name ?? '')).length).toBe(ofDays.size)
    expect(asked.filter((name) => hours.some(({ filter }) => filter === name))).toEqual([])
    // And each that is there is found, as without them.
    const found = await lookupRows(
      source,
      said.map((key) => [key]),
    )
    const without = await lookupRows(
      { ...source, parts: parts.map(({ day_filter: _day_filter, ...part }) => part) },
      said.map((key) => [key]),
    )
    expect(found.map(({ idempotency_key }) => idempotency_key).sort()).toEqual(without.map(({ idempotency_key }) => idempotency_key).sort())
    expect(found.length).toBeGreaterThan((7 * 24) / EVERY_HOURS - 1)
  })

  test('go with their day, and are kept until then', async () => {
    const { bucket, files, scope } = world
    const before = await keyParts()
    const { append } = scenario.writer('later')
    await scenario.tell(async () => {
      const { turn } = scenario.decider('later', { reconcile: foldOnly })
      await world.time.sleep(2 * DAY_MS)
      await append([scenario.say.runRequested('user:later', {}, { at: world.time.now() })])
      await turn()
      await merge(world.start('keeper'))
      await world.time.sleep(31 * DAY_MS)
      await collect(world.start('collector'))
    })
    const after = new Set((await keyParts()).flatMap(({ day_filter }) => day_filter ?? []))
    const gone = before.flatMap(({ day_filter }) => (day_filter === undefined || after.has(day_filter) ? [] : [day_filter]))
    expect(new Set(gone).size).toBe(2)
    const left = new Set((await listAll(bucket, 'state/')).map(({ name }) => name))
    expect([...after].filter((name) => !left.has(name))).toEqual([])
    expect(gone.filter((name) => left.has(name))).toEqual([])
    expect((await verify({ store: bucket, files, scope })).problems).toEqual([])
    await scenario.expectInvariants()
  })
})

test('parts go together as far as one filter has room for their keys', () => {
  const parts = [3, 4, 5, 2, 9, 1].map((rows) => ({ rows }))
  expect(partsByFilter(parts, 9).map((some) => some.map(({ rows }) => rows))).toEqual([[3, 4], [5, 2], [9], [1]])
})
