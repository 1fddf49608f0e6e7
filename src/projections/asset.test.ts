import { describe, expect, it } from '@jest/globals'
import { createStory } from '../../test/fixtures/fold-story.js'
import { told } from '../../test/fixtures/run-story.js'
import { createSpeaker, NOW } from '../../test/fixtures/say.js'

function deployed() {
  const say = createSpeaker()
  const story = createStory()
  const fold = (...events: Parameters<typeof story.fold>) => {
    const outcomes = story.fold(...events).map(told)
    story.publish()
    return outcomes
  }
  const asset = say.assetDefined('a', { group: 'g', description: 'first', code_version: 'v1' })
  expect(fold(say.locationDeployed('main', 0), asset)).toEqual(['applied', 'applied'])
  const row = (definition_hash = asset.payload.definition_hash) => story.row('asset_definitions', 'a', definition_hash)
  return { say, story, fold, asset, hash: asset.payload.definition_hash, row }
}

describe('a deploy', () => {
  it('makes the location, its pool, and the current definition of its assets', () => {
    const { story, row } = deployed()
    expect(story.row('code_locations', 'main')).toMatchObject({
      location_version: 1,
      slots: 64,
      worker_queue: 'default',
      deployed_at: NOW,
      deployed_by: null,
    })
    expect(story.row('pools', 'location:main')).toMatchObject({ max_running: null, in_use: 0 })
    expect(row()).toMatchObject({
      state: 'CURRENT',
      location_name: 'main',
      location_version: 1,
      group_name: 'g',
      description: 'first',
      code_version: 'v1',
      defined_at: NOW,
      current_since_at: NOW,
      ended_at: null,
    })
  })

  it('of a new version moves the version on, and leaves the pool as it is', () => {
    const { say, story, fold } = deployed()
    fold(say.poolDefined('location:main', 3))
    expect(fold(say.locationDeployed('main', 1, { slots: 5, requested_by: 'user:2' }))).toEqual(['applied'])
    expect(story.row('code_locations', 'main')).toMatchObject({ location_version: 2, slots: 5, deployed_by: 'user:2' })
    expect(story.row('pools', 'location:main')?.max_running).toBe(3)
  })

  it('without slots has the default', () => {
    const { say, story, fold } = deployed()
    const { slots: _, ...payload } = say.locationDeployed('main', 1).payload
    fold({ ...say.locationDeployed('main', 1), payload })
    expect(story.row('code_locations', 'main')?.slots).toBe(64)
  })

  it('on a stale version is refused whole', () => {
    const { say, fold, row, story } = deployed()
    const before = story.everything()
    const events = [
      say.assetDefined('b'),
      say.locationDeployed('main', 0, {}, { request: 'again' }),
      say.assetDefined('a', { group: 'new' }),
      say.poolDefined('pool:p', 1),
    ]
    expect(fold(...events)).toEqual(['TRIGGER_NOT_APPLIED', 'STALE_LOCATION', 'TRIGGER_NOT_APPLIED', 'TRIGGER_NOT_APPLIED'])
    expect(row()?.state).toBe('CURRENT')
    expect({ ...story.everything(), refusals: {} }).toEqual(before)
  })

  it("of another location's asset is refused whole, and says which asset it was, whatever its cause", () => {
    const { say, fold, story } = deployed()
    const location = say.locationDeployed('other', 0)
    const cause = { causation_id: location.event_id }
    const events = [
      location,
      say.assetDefined('b', {}, 'other', cause),
      say.assetDefined('a', {}, 'other', cause),
      say.assetRemoved('a', 'x', 'other', cause),
    ]
    expect(fold(...events)).toEqual(['TRIGGER_NOT_APPLIED', 'TRIGGER_NOT_APPLIED', 'OWNED_ELSEWHERE', 'OWNED_ELSEWHERE'])
    expect(story.row('code_locations', 'other')).toBeUndefined()
  })

  it('is judged as it would be folded', () => {
    const { say, fold, hash } = deployed()
    const taken = say.assetDefined('a', {}, 'other')
    expect(fold(say.locationDeployed('other', 0), say.locationDeployed('other', 1), say.assetRemoved('a', hash), taken)).toEqual([
      'applied',
      'applied',
      'applied',
      'applied',
    ])
  })

  it('does not count on a removal that would be refused', () => {
    const { say, fold, row } = deployed()
    const events = [say.locationDeployed('other', 0), say.assetRemoved('a', '0'.repeat(64)), say.assetDefined('a', {}, 'other')]
    expect(fold(...events)).toEqual(['TRIGGER_NOT_APPLIED', 'TRIGGER_NOT_APPLIED', 'OWNED_ELSEWHERE'])
    expect(row()).toMatchObject({ state: 'CURRENT', location_name: 'main' })
  })

  it('said again is a duplicate, event by event', () => {
    const { say, fold } = deployed()
    const events = [say.locationDeployed('other', 0), say.assetDefined('b', {}, 'other')]
    expect(fold(...events)).toEqual(['applied', 'applied'])
    expect(fold(...events)).toEqual(['duplicate', 'duplicate'])
  })

  it('of which one event cannot be read goes on without it', () => {
    const { say, story } = deployed()
    const entries = [
      { kind: 'quarantine', reason: 'UNKNOWN_VERSION', raw: '{}' } as const,
      { kind: 'event', event: say.locationDeployed('other', 0) } as const,
    ]
    expect(story.foldTogether([{ entries, fold_time: NOW, segment_name: 's' }]).map(told)).toEqual(['UNKNOWN_VERSION', 'applied'])
  })
})

describe('a definition', () => {
  it('of another hash supersedes the current one', () => {
    const { say, fold, hash, row } = deployed()
    const next = say.assetDefined('a', { group: 'h' }, 'main', { at: NOW + 1_000 })
    expect(fold(next)).toEqual(['applied'])
    expect(row(hash)).toMatchObject({ state: 'SUPERSEDED', ended_at: NOW + 1_000, current_since_at: NOW })
    expect(row(next.payload.definition_hash)).toMatchObject({ state: 'CURRENT', defined_at: NOW + 1_000, group_name: 'h' })
  })

  it('of the same hash updates description and location_version alone', () => {
    const { say, fold, row } = deployed()
    const before = row()
    const event = say.assetDefined('a', { group: 'g', description: 'second', code_version: 'v1' }, 'main', {
      request: 'r2',
      at: NOW + 1_000,
    })
    expect(fold(say.locationDeployed('main', 1), event)).toEqual(['applied', 'applied'])
    expect(row()).toEqual({
      ...before,
      description: 'second',
      location_version: 2,
      last_event_id: event.event_id,
      row_version: row()?.row_version,
    })
  })

  it('that comes back is current again, as it was', () => {
    const { say, fold, hash, row, story } = deployed()
    fold(say.assetDefined('a', { group: 'h' }))
    const again = say.assetDefined('a', { group: 'g', description: 'third', code_version: 'v1' }, 'main', {
      request: 'r2',
      at: NOW + 2_000,
    })
    expect(fold(again)).toEqual(['applied'])
    expect(row(hash)).toMatchObject({
      state: 'CURRENT',
      description: 'third',
      defined_at: NOW,
      current_since_at: NOW + 2_000,
      ended_at: null,
    })
    expect(story.rows.currentDefinition('a')?.definition_hash).toBe(hash)
  })

  it('for a location that nobody has deployed is refused', () => {
    const { say, fold } = deployed()
    expect(fold(say.assetDefined('b', {}, 'nowhere'))).toEqual(['UNKNOWN_ENTITY'])
  })

  it("of another location's asset is refused", () => {
    const { say, fold } = deployed()
    fold(say.locationDeployed('other', 0))
    expect(fold(say.assetDefined('a', {}, 'other'))).toEqual(['OWNED_ELSEWHERE'])
  })

  it('removed is not current any more, and may go to another location', () => {
    const { say, fold, hash, row, story } = deployed()
    expect(fold(say.assetRemoved('a', hash, 'main', { at: NOW + 1_000 }))).toEqual(['applied'])
    expect(row()).toMatchObject({ state: 'REMOVED', ended_at: NOW + 1_000 })
    expect(story.rows.currentDefinition('a')).toBeUndefined()
    fold(say.locationDeployed('other', 0))
    expect(fold(say.assetDefined('a', { group: 'g', description: 'first', code_version: 'v1' }, 'other', { request: 'r2' }))).toEqual([
      'applied',
    ])
    expect(row()).toMatchObject({ state: 'CURRENT', location_name: 'other', ended_at: null })
  })

  it.each([
    ['on a stale hash', 'a', 'main', 'STALE_BASIS'],
    ["of another location's asset", 'a', 'other', 'OWNED_ELSEWHERE'],
    ['of an asset that nobody knows', 'x', 'main', 'UNKNOWN_ENTITY'],
  ])('removed %s is not', (_, asset_key, location_name, reason) => {
    const { say, fold } = deployed()
    expect(fold(say.assetRemoved(asset_key, '0'.repeat(64), location_name))).toEqual([reason])
  })
})
