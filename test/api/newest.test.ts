// How much a page of runs, newest first, reads: runs of the last minutes or of the last hour where these are enough, and not those
// of a month.

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { View } from '../../src/readers/reader.js'
import { readNewestRuns } from '../../src/readers/runs.js'
import { type ApiWorld, type Asker, createApiWorld, createAsker, MAIN } from '../fixtures/api-world.js'

let world: ApiWorld
let ask: Asker

/** Days three days apart, and of each a run, and five hours later two more within minutes. */
const DAYS = ['first', 'second', 'third'] as const
const DAYS_BETWEEN = 3

beforeAll(async () => {
  world = createApiWorld()
  ask = createAsker(await world.start())
  expect(await ask.post('/code-locations/main/deploy', MAIN)).toMatchObject({ status: 202 })
  for (const day of DAYS) {
    if (day !== DAYS[0]) world.passDays(DAYS_BETWEEN)
    for (const [run, minutes_before] of [60, 300, 1].entries()) {
      world.passSeconds(minutes_before * 60)
      expect(await ask.post('/runs?wait=true', { selection: 'a', run_key: `${day}-${run}` })).toMatchObject({ status: 202 })
    }
  }
})
afterAll(() => world.close())

/** The keys of the page, and how many rows were read for it. */
async function readPage(limit: number): Promise<readonly [readonly string[], number]> {
  const view = (await world.reader.latest()) as View
  let count = 0
  const counting: View = {
    ...view,
    async page(table, scan) {
      const page = await view.page(table, scan)
      count += page.rows.length
      return page
    },
  }
  const { rows } = await readNewestRuns(counting, {}, limit)
  return [rows.map(({ run_key }) => run_key), count]
}

test('a page that the last five minutes fill reads the runs of those alone', async () => {
  expect(await readPage(1)).toEqual([['user:third-2'], 2])
})

test('a longer one reads on: those of an hour, of a day, of a month', async () => {
  expect(await readPage(2)).toEqual([['user:third-2', 'user:third-1'], 2 + 2 + 3])
  expect((await readPage(4))[0]).toEqual(['user:third-2', 'user:third-1', 'user:third-0', 'user:second-2'])
})
