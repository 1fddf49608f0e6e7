// Deploys with schedules: new ones, changes, renames and removals, and what stands in their way.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { isUlid } from '../../src/core/ids.js'
import { createAppender } from '../../src/ledger/append.js'
import { type ApiWorld, type Asker, createApiWorld, createAsker, definition, MAIN } from '../fixtures/api-world.js'
import { createSpeaker, ulidOf } from '../fixtures/say.js'

let world: ApiWorld
let ask: Asker

beforeEach(async () => {
  world = createApiWorld()
  ask = createAsker(await world.start())
  await deploy({ ...MAIN, assets: [definition('a')] })
})
afterEach(() => world.close())

const deploy = (body: object, query = '', location = 'main') => ask.post(`/code-locations/${location}/deploy${query}`, body)
const nightly = { schedule_name: 'nightly', cron_expressions: '30 2 * * *', asset_selection: ['a'] }
const withSchedules = (...schedules: object[]) => ({ ...MAIN, assets: [definition('a')], schedules })

type Row = Readonly<Record<string, unknown>>
const rowsOf = async (table: 'schedule_definitions' | 'schedule_state'): Promise<readonly Row[]> => (await world.look(table)).rows
const schedules = async () => {
  const states = new Map((await rowsOf('schedule_state')).map((row) => [row['schedule_id'], row['status']]))
  return (await rowsOf('schedule_definitions'))
    .map((row) => [row['schedule_name'], states.get(row['schedule_id']), row['definition_version']].join(' '))
    .sort()
}
const idOf = async (schedule_name: string) =>
  (await rowsOf('schedule_definitions')).find((row) => row['schedule_name'] === schedule_name)?.['schedule_id']

describe('a deploy with schedules', () => {
  test('makes them with ids of their own, and the same again changes nothing', async () => {
    const dry = await deploy(withSchedules(nightly), '?dry_run=true')
    expect(dry.body).toMatchObject({ diff: { schedules: { added: ['nightly'], changed: [], removed: [], unchanged_count: 0 } } })
    expect(await deploy(withSchedules(nightly))).toMatchObject({ status: 202, body: { outcome: { kind: 'applied' } } })
    expect(await schedules()).toEqual(['nightly ACTIVE 1'])
    expect(isUlid(String(await idOf('nightly')))).toBe(true)
    expect((await ask.get('/code-locations/main')).body).toMatchObject({ asset_count: 1, schedule_count: 1 })
    const again = await deploy(withSchedules({ ...nightly, timezone: 'UTC', tags: {}, priority: 0 }), '?dry_run=true')
    expect(again.body).toMatchObject({ diff: { schedules: { added: [], changed: [], removed: [], unchanged_count: 1 } } })
    expect(await deploy(withSchedules(nightly))).toMatchObject({ status: 200 })
    expect(await schedules()).toEqual(['nightly ACTIVE 1'])
  })

  test('writes a zone as the database does, and another case of it changes nothing', async () => {
    await deploy(withSchedules({ ...nightly, timezone: 'asia/tokyo' }))
    expect(await rowsOf('schedule_definitions')).toMatchObject([{ timezone: 'Asia/Tokyo', definition_version: 1 }])
    const again = await deploy(withSchedules({ ...nightly, timezone: 'ASIA/Tokyo' }))
    expect(again.body).toMatchObject({ diff: { schedules: { added: [], changed: [], removed: [], unchanged_count: 1 } } })
    expect(await rowsOf('schedule_definitions')).toMatchObject([{ timezone: 'Asia/Tokyo', definition_version: 1 }])
  })

  test('changes, renames and removes them, and keeps what they were', async () => {
    await deploy(withSchedules(nightly, { ...nightly, schedule_name: 'weekly' }))
    const [kept, gone] = [await idOf('nightly'), await idOf('weekly')]
    const renamed = { ...nightly, schedule_name: 'at-night', renamed_from: 'nightly', max_catchup_ticks: 9 }
    const done = await deploy(withSchedules(renamed))
    expect(done).toMatchObject({
      status: 202,
      body: {
        diff: {
          schedules: {
            added: [],
            changed: [
              {
                schedule_name: 'at-night',
                members: [
                  { member: 'max_catchup_ticks', from: 3, to: 9 },
                  { member: 'schedule_name', from: 'nightly', to: 'at-night' },
                ],
              },
            ],
            removed: ['weekly'],
          },
        },
      },
    })
    expect(await schedules()).toEqual(['at-night ACTIVE 2', 'weekly REMOVED 1'])
    expect(await idOf('at-night')).toBe(kept)
    // It may say for ever what it was called.
    expect(await deploy(withSchedules(renamed))).toMatchObject({ status: 200 })
    // Who takes a name again is another schedule.
    await deploy(withSchedules(renamed, { ...nightly, schedule_name: 'weekly' }))
    expect(await schedules()).toEqual(['at-night ACTIVE 2', 'weekly ACTIVE 1', 'weekly REMOVED 1'])
    expect((await rowsOf('schedule_definitions')).filter((row) => row['schedule_id'] === gone)).toHaveLength(1)
  })

  test('that keeps what it does not contain removes none, and is nothing new while nothing else changes', async () => {
    const weekly = { ...nightly, schedule_name: 'weekly', description: 'Once a week.', tags: { team: 'core' } }
    await deploy({ ...withSchedules(nightly, weekly), assets: [definition('a'), definition('b', { group: 'g' })] })
    const ids = [await idOf('nightly'), await idOf('weekly')]
    const commented_out = { ...withSchedules(nightly), keep_missing: true }
    const kept = { assets: ['b'], schedules: ['weekly'] }
    expect(await deploy(commented_out, '?dry_run=true')).toMatchObject({
      body: { diff: { removed: [], schedules: { removed: [] }, kept } },
    })
    expect(await deploy(commented_out)).toMatchObject({ status: 200, body: { location_version: 2, diff: { kept } } })
    // What does change is deployed beside it.
    const changed = {
      ...withSchedules({ ...nightly, max_catchup_ticks: 9 }),
      assets: [definition('a'), definition('c')],
      keep_missing: true,
    }
    expect(await deploy(changed)).toMatchObject({ status: 202, body: { outcome: { kind: 'applied' }, diff: { added: ['c'], kept } } })
    expect(await schedules()).toEqual(['nightly ACTIVE 2', 'weekly ACTIVE 1'])
    expect([await idOf('nightly'), await idOf('weekly')]).toEqual(ids)
    expect((await ask.get('/code-locations/main')).body).toMatchObject({ location_version: 3, asset_count: 3, schedule_count: 2 })
    expect((await ask.get('/assets/b')).body).toMatchObject({ group_name: 'g' })
    // Without it, what is left out is removed as ever.
    expect(await deploy(withSchedules(nightly))).toMatchObject({
      body: { diff: { removed: ['b', 'c'], schedules: { removed: ['weekly'] } } },
    })
  })

  test('that keeps what it does not contain renames, and leaves two alone that both have ticked', async () => {
    const renamed = { ...nightly, schedule_name: 'at-night', renamed_from: 'nightly' }
    const keeping = (...schedules: object[]) => ({ ...withSchedules(...schedules), keep_missing: true })
    await deploy(withSchedules(nightly))
    const first = await idOf('nightly')
    // Saved before `renamed_from` was written.
    await deploy(keeping({ ...nightly, schedule_name: 'at-night' }))
    expect(await schedules()).toEqual(['at-night ACTIVE 1', 'nightly ACTIVE 1'])
    expect(await deploy(keeping(renamed))).toMatchObject({ status: 200, body: { diff: { kept: { schedules: ['nightly'] } } } })
    const second = await idOf('at-night')
    expect(await deploy(keeping({ ...renamed, schedule_name: 'by-night', renamed_from: 'at-night' }))).toMatchObject({
      body: { diff: { kept: { schedules: ['nightly'] }, schedules: { added: [], changed: [{ schedule_name: 'by-night' }] } } },
    })
    expect([await idOf('nightly'), await idOf('by-night'), await idOf('at-night')]).toEqual([first, second, undefined])
    // What it was called is in no row, and is no change.
    expect(await deploy(keeping())).toMatchObject({ status: 200, body: { diff: { kept: { schedules: ['by-night', 'nightly'] } } } })
  })

  test('gives the name of one that it removes to another', async () => {
    await deploy(withSchedules(nightly, { ...nightly, schedule_name: 'other' }))
    const [first, second] = [await idOf('nightly'), await idOf('other')]
    // "nightly" is deployed, so it is no former name: "other" goes, and nothing is renamed.
    await deploy(withSchedules(nightly))
    expect(await idOf('nightly')).toBe(first)
    await deploy(withSchedules({ ...nightly, schedule_name: 'other', renamed_from: 'nightly' }))
    expect([await idOf('nightly'), second === first]).toEqual([undefined, false])
    expect(await schedules()).toEqual(['other ACTIVE 1', 'other REMOVED 1'])
  })

  test('never touches those that the API made, and takes none of their names', async () => {
    const mine = ulidOf('made by hand')
    await createAppender({ ...world.appending, server_time: world.appending.clock.now() }).append([
      createSpeaker().scheduleDefined(mine, {}, { schedule_name: 'by-hand' }),
    ])
    await world.turn.run()
    await deploy(withSchedules())
    expect(await schedules()).toEqual(['by-hand ACTIVE 1'])
    const taken = await deploy(withSchedules({ ...nightly, schedule_name: 'by-hand' }))
    expect(taken).toMatchObject({ status: 400, body: { errors: [{ path: 'schedules[0].schedule_name' }] } })
    expect(taken.body['detail']).toContain(`The name by-hand belongs to the schedule ${mine}, which was made by the API.`)
  })

  test('selects from the assets that it deploys', async () => {
    const both = { ...MAIN, assets: [definition('a'), definition('fresh')], schedules: [{ ...nightly, asset_selection: 'fresh' }] }
    expect(await deploy(both)).toMatchObject({ status: 202 })
    const without = await deploy({ ...both, assets: [definition('a')] })
    expect(without).toMatchObject({ status: 400, body: { errors: [{ path: 'schedules[0].asset_selection[0]' }] } })
    expect(await schedules()).toEqual(['nightly ACTIVE 1'])
  })

  test('is told of a mapping that no tick of the schedule could keep', async () => {
    const assets = [definition('a', { partitions: { type: 'daily', start_date: '2025-01-01' } })]
    const partition_mapping = { type: 'LAST_COMPLETE', dims: { region: { all: true } } }
    const refused = await deploy({ ...MAIN, assets, schedules: [{ ...nightly, partition_mapping }] })
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: 'schedules[0].partition_mapping' }] } })
    expect(refused.body['detail']).toContain('The schedule nightly: a: Dimensions are mapped of partitions that have some')
    const broken = [definition('a', { partitions: { type: 'daily', start_date: 'then' } })]
    const told = await deploy({ ...MAIN, assets: broken, schedules: [{ ...nightly, partition_mapping: { type: 'LAST_COMPLETE' } }] })
    expect(told.body['errors']).toEqual([expect.objectContaining({ path: expect.stringContaining('assets[0].partitions') })])
  })

  test.each<readonly [object, string, RegExp]>([
    [{ ...nightly, cron_expressions: ['30 25 * * *'] }, 'schedules[0].cron_expressions', /The schedule nightly: .*"30 25 \* \* \*"/],
    [{ ...nightly, timezone: 'Berlin' }, 'schedules[0].timezone', /The schedule nightly: .*Berlin/],
    [{ ...nightly, asset_selection: ['zz'] }, 'schedules[0].asset_selection[0]', /The schedule nightly: zz is not defined/],
    [{ ...nightly, schedule_name: ulidOf('x') }, 'schedules[0].schedule_name', /would be taken for the id of a schedule/],
    [{ ...nightly, max_catchup_ticks: 101 }, 'schedules[0].max_catchup_ticks', /a whole number from 1 to 100/],
    [{ ...nightly, colour: 1 }, 'schedules[0]', /colour/],
  ])('is told what is wrong with one: %#', async (schedule, path, sentence) => {
    const refused = await deploy(withSchedules(schedule))
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path }] } })
    expect(refused.body['detail']).toMatch(sentence)
    expect(await schedules()).toEqual([])
  })

  test('is told of two with one name, and of a former name that is still deployed', async () => {
    const twice = await deploy(withSchedules(nightly, nightly))
    expect(twice.body).toMatchObject({ errors: [{ path: 'schedules[1].schedule_name' }] })
    const both = await deploy(withSchedules(nightly, { ...nightly, schedule_name: 'other', renamed_from: 'nightly' }))
    expect(both.body).toMatchObject({ errors: [{ path: 'schedules[1].renamed_from' }] })
  })
})

test('a workspace whose fold knows no schedules is told so, and nothing is appended', async () => {
  const bare = createApiWorld()
  bare.holdTurns()
  const asker = createAsker(await bare.start())
  const refused = await asker.post('/code-locations/main/deploy', withSchedules(nightly))
  expect(refused).toMatchObject({ status: 503, body: { fold_version: 1, needed: 3 } })
  expect(refused.body['detail']).toMatch(/ScheduleDefined needs fold version 3, and no turn of this workspace has published yet\. Start/)
  await bare.close()
})
