// `servo run cancel` with a filter that more open runs fit than one call takes, on a real API with real turns.

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { main } from '../../src/cli/main.js'
import { CANCELLED_RUNS_MAX } from '../../src/core/limits.js'
import { type ApiWorld, type Asker, createApiWorld, createAsker, MAIN } from '../fixtures/api-world.js'
import { saidWhile } from '../fixtures/said-while.js'

const MORE = 5
const AT_ONCE = 100

let world: ApiWorld
let asker: Asker
let origin: string

beforeAll(async () => {
  world = createApiWorld()
  const api = await world.start({ rate_limit_per_minute: 100_000 })
  origin = api.listeningOrigin
  asker = createAsker(api)
  await asker.post('/code-locations/main/deploy', MAIN)
})
afterAll(() => world.close())

async function requestRuns(count: number, team: string): Promise<void> {
  world.holdTurns()
  for (let from = 0; from < count; from += AT_ONCE) {
    const keys = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => `${team}-${from + i}`)
    const asked = await Promise.all(keys.map((run_key) => asker.post('/runs', { selection: 'a', run_key, tags: { team } })))
    expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([202]))
  }
  world.releaseTurns()
  await world.turn.run()
}

const statesOf = async (team: string) =>
  (await world.look('runs')).rows.filter(({ tags }) => (tags as { team?: string }).team === team).map(({ state }) => state)

test('asks them all to end, each once, and no other', async () => {
  await requestRuns(CANCELLED_RUNS_MAX + MORE, 'core')
  await requestRuns(1, 'other')
  const { code, stdout } = await saidWhile(() => main(['run', 'cancel', '--tag', 'team=core', '--yes', '--json', '--api', origin]))
  const told = JSON.parse(stdout) as { readonly run_ids: readonly string[]; readonly matched_count: number; readonly more?: boolean }
  expect({ code, matched_count: told.matched_count, more: told.more }).toEqual({
    code: 0,
    matched_count: CANCELLED_RUNS_MAX + MORE,
    more: undefined,
  })
  expect(new Set(told.run_ids).size).toBe(CANCELLED_RUNS_MAX + MORE)
  await world.turn.run()
  const cancelled = (await world.look('runs')).rows.filter((row) => row['cancel_requested_at'] !== null)
  expect(cancelled.map(({ run_id }) => run_id).sort()).toEqual([...told.run_ids].sort())
  expect(await statesOf('other')).not.toContain('CANCELLED')
}, 120_000)
