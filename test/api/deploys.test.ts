// Deploys over the API, and what is read of them.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type ApiWorld, type Asker, createApiWorld, createAsker, definition, MAIN } from '../fixtures/api-world.js'

let world: ApiWorld
let ask: Asker

beforeEach(async () => {
  world = createApiWorld()
  ask = createAsker(await world.start())
})
afterEach(() => world.close())

const deploy = (body: object, query = '', location = 'main') => ask.post(`/code-locations/${location}/deploy${query}`, body)

describe('a deploy', () => {
  test('is told before, done whole, and changes nothing when it is repeated', async () => {
    const dry = await deploy(MAIN, '?dry_run=true')
    expect(dry.body).toMatchObject({ dry_run: true, location_version: 0, diff: { added: ['a', 'b', 'c'] } })
    expect(dry.body).not.toHaveProperty('accepted_event_id')
    expect(await ask.get('/code-locations/main')).toMatchObject({ status: 404 })
    expect(dry.status).toBe(200)
    const done = await deploy(MAIN)
    expect(done).toMatchObject({ status: 202, body: { location_version: 1, outcome: { kind: 'applied' } } })
    expect(done.body['outcome']).toMatchObject({ event_id: done.body['accepted_event_id'] })
    const names: string[] = []
    world.watchPuts((name) => void names.push(name))
    const again = await deploy(MAIN)
    expect(again).toMatchObject({
      status: 200,
      body: { location_version: 1, diff: { added: [], changed: [], removed: [], unchanged_count: 3 } },
    })
    expect(again.body).not.toHaveProperty('accepted_event_id')
    expect(names.filter((name) => name.startsWith('ledger/'))).toEqual([])
    expect((await ask.get('/code-locations')).body).toMatchObject({
      code_locations: [{ location_name: 'main', asset_count: 3 }],
      next_cursor: null,
    })
    expect((await ask.get('/code-locations/main')).body).toMatchObject({ location_version: 1, slots: 64 })
  })

  test('of two at once wins one, whole, and the other is told', async () => {
    await deploy(MAIN)
    // One that folds for itself would plan the second on top of the first.
    ask = createAsker(await world.start({ tail: undefined }))
    world.holdTurns()
    const both = [1, 2].map((n) => deploy({ ...MAIN, assets: [definition(`only${n}`)] }))
    let appended = 0
    // Both planned on the same version before either was folded.
    await new Promise<void>((resolve) => {
      world.watchPuts((name) => {
        if (name.startsWith('ledger/') && ++appended === 2) resolve()
      })
    })
    world.releaseTurns()
    const answers = await Promise.all(both)
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409])
    const winner = answers.findIndex(({ status }) => status === 202)
    const loser = answers[1 - winner]
    expect(loser?.body).toMatchObject({ type: 'urn:servo:problem:conflict', reason: 'STALE_LOCATION', location_version: 2 })
    expect(loser?.body['detail']).toBe('Nothing was deployed: somebody else deployed first. Look at the difference again, and deploy anew.')
    expect((await ask.get('/assets')).body).toMatchObject({ assets: [{ asset_key: `only${winner + 1}` }] })
  })

  test('is refused where it was made for another version, or takes what another location has', async () => {
    await deploy(MAIN)
    const stale = await deploy({ ...MAIN, expected_location_version: 0 })
    expect(stale).toMatchObject({ status: 409, body: { location_version: 1 } })
    expect(stale.body['detail']).toBe(
      'The code location main is at version 1, and this deploy was made for version 0: somebody else deployed. Look at the difference again, and deploy anew.',
    )
    const taken = await deploy({ ...MAIN, assets: [definition('a')] }, '', 'other')
    expect(taken).toMatchObject({ status: 400, body: { errors: [{ path: 'assets[0].asset_key' }] } })
  })

  test('that meets another location’s on the way is refused by the fold, with the asset that is taken', async () => {
    ask = createAsker(await world.start({ tail: undefined }))
    world.holdTurns()
    const both = ['one', 'two'].map((name) => deploy({ ...MAIN, assets: [definition('shared')] }, '', name))
    let appended = 0
    await new Promise<void>((resolve) => {
      world.watchPuts((name) => {
        if (name.startsWith('ledger/') && ++appended === 2) resolve()
      })
    })
    world.releaseTurns()
    const loser = (await Promise.all(both)).find(({ status }) => status === 409)
    expect(loser?.body).toMatchObject({ reason: 'OWNED_ELSEWHERE', asset_key: 'shared' })
    expect(loser?.body['detail']).toMatch(
      /^Nothing was deployed. shared belongs to the code location (one|two), which was deployed meanwhile. Remove/,
    )
  })

  test.each([
    [
      { ...MAIN, assets: [definition('a', { colour: 1 })] },
      'assets[0] has a member that nobody knows here: colour. Correct the spelling, or leave it out.',
    ],
    [{ ...MAIN, slot: 1 }, 'It has a member that nobody knows here: slot. Correct the spelling, or leave it out.'],
    [
      { ...MAIN, assets: [definition('a', { retry: { tries: 1 } })] },
      'assets[0].retry has a member that nobody knows here: tries. Correct the spelling, or leave it out.',
    ],
    [{ ...MAIN, worker_url: 'nowhere' }, 'worker_url is "nowhere". Give it the URL of a worker, such as http://127.0.0.1:4100.'],
    [
      { ...MAIN, assets: [definition('a', { deps: [{ asset_key: 'zz' }] })] },
      'Nothing was deployed. a needs zz, which is not defined. Define it, or remove the dependency.',
    ],
    [
      { ...MAIN, assets: [definition('a', { heartbeat_timeout_seconds: 0 })] },
      'Nothing was deployed. a: heartbeat_timeout_seconds is 0. Give it a number of seconds from 1: with less every attempt would be lost.',
    ],
  ])('is told what is wrong with it: %#', async (body, detail) => {
    expect(await deploy(body)).toMatchObject({ status: 400, body: { detail } })
  })
})

describe('assets', () => {
  test('are listed, filtered, paged and drawn', async () => {
    expect((await ask.get('/assets')).body).toEqual({ assets: [], next_cursor: null })
    await deploy(MAIN)
    const keys = async (query: string) =>
      ((await ask.get(`/assets${query}`)).body['assets'] as { asset_key: string }[]).map((each) => each.asset_key)
    expect(await keys('')).toEqual(['a', 'b', 'c'])
    expect(await keys('?group=g')).toEqual(['a'])
    expect(await keys('?tag=team%3Dcore')).toEqual(['a'])
    expect(await keys('?location=other')).toEqual([])
    const first = await ask.get('/assets?limit=2')
    expect(await keys(`?limit=2&cursor=${String(first.body['next_cursor'])}`)).toEqual(['c'])
    expect((await ask.get('/asset-graph')).body).toMatchObject({ nodes: [{}, {}, {}], edges: [{ from: 'a', to: 'b' }] })
    expect((await ask.get('/assets/a')).body).toMatchObject({ upstream: [], downstream: ['b'], last_materialization: null })
    expect((await ask.get('/assets/c')).body).toMatchObject({ partition_counts: { materialized: 0, failed: 0, total: 3 } })
    expect((await ask.get('/assets/bb')).body['detail']).toMatch(/^bb is not defined\./)
  })
})
