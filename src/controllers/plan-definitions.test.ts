import { describe, expect, it } from '@jest/globals'
import { createPlanStory, faultIn, pagesOf, tasksIn } from '../../test/fixtures/plan-story.js'
import { listSha256 } from '../core/keys.js'
import { reconcilePlan } from './plan.js'
import { planNeeds } from './plan-definitions.js'

const hashOf = ({ story }: ReturnType<typeof createPlanStory>, asset_key: string): string =>
  story.rows.currentDefinition(asset_key)?.definition_hash ?? ''

/** `a` was defined, and is another since. */
function changedStory() {
  const planned = createPlanStory({ a: { code_version: 'v1' }, b: {}, list: {} })
  const first = { a: hashOf(planned, 'a'), list: hashOf(planned, 'list') }
  const { fold, say } = planned
  fold(say.assetDefined('a', { code_version: 'v2' }), say.assetDefined('list', { code_version: 'v2' }))
  return { ...planned, first }
}

const definitionsIn = (decision: Parameters<typeof pagesOf>[0]) =>
  Object.fromEntries(
    pagesOf(decision).flatMap(({ definitions }) => definitions.map(({ asset_key, definition_hash }) => [asset_key, definition_hash])),
  )

describe('the definitions of a run', () => {
  it('are the current ones', () => {
    const story = changedStory()
    expect(definitionsIn(story.plan())).toMatchObject({ a: hashOf(story, 'a'), b: hashOf(story, 'b') })
  })

  it('are the pinned ones, where a map pins them', () => {
    const story = changedStory()
    const plan = story.plan({ definition_pins: story.first })
    expect(definitionsIn(plan)).toEqual({ ...story.first, b: hashOf(story, 'b') })
    expect(story.foldDecision(plan)).toEqual(['applied'])
  })

  it('are the pinned ones, where a list pins them', () => {
    const story = changedStory()
    const pins = [`a@${story.first.a}`, `b@${hashOf(story, 'b')}`]
    const sha256 = listSha256(pins)
    story.story.lists.set(sha256, pins)
    expect(definitionsIn(story.plan({ definition_pins: { list: { sha256, count: 2 } } }))).toMatchObject({ a: story.first.a })
  })

  it('are unknown where a pin names none', () => {
    const none = '0'.repeat(64)
    const { drafts } = changedStory().plan({ definition_pins: { a: none } })
    expect(faultIn(drafts[0])).toBe(`UNKNOWN_ASSET This asset is not defined: a@${none}. Deploy what defines them, or select others.`)
  })

  it('are not those of an asset that was removed, unless it is pinned', () => {
    const story = changedStory()
    const pinned = hashOf(story, 'a')
    story.fold(story.say.assetRemoved('a', pinned))
    expect(tasksIn(story.plan({ definition_pins: { a: pinned } }))).toEqual(['a', 'b', 'list'])
    story.request()
    expect(faultIn(story.reconcile()[1]?.drafts[0])).toMatch(/^UNKNOWN_ASSET This asset is not defined: a\./)
  })
})

describe('a long list', () => {
  const assets = ['b', 'a']
  const sha256 = listSha256(assets)

  it('selects its assets, from its offset on', () => {
    const story = createPlanStory({ a: {}, b: {} })
    story.story.lists.set(sha256, assets)
    expect(tasksIn(story.plan({ assets: { list: { sha256, count: 2 } } }))).toEqual(['a', 'b'])
    story.request({ assets: { list: { sha256, count: 1, offset: 1 } } })
    expect(story.reconcile()[1]?.drafts[0]?.payload).toMatchObject({ tasks: [{ k: 'a' }] })
  })

  it('has to be loaded before a controller reads it', () => {
    const story = createPlanStory({ a: {}, b: {} })
    story.story.lists.set(sha256, assets)
    story.request({ assets: { list: { sha256, count: 2 } } })
    expect(planNeeds(story.story.rows)).toEqual({ lists: [sha256], keys: [], ended: [] })
    expect(() => reconcilePlan({ rows: story.story.rows })).toThrow('which listsOf did not name')
  })

  it.each([
    ['UNKNOWN_ASSET', 'assets', { assets: { list: { sha256, count: 2 } } }],
    ['BAD_PARTITION', 'there', { partitions: { list: { sha256, count: 2 } } }],
    ['UNKNOWN_ASSET', 'pinned definitions', { definition_pins: { list: { sha256, count: 2 } } }],
  ])('that is lost fails the plan: %s', (code, words, changes) => {
    const story = createPlanStory({ a: { partitions: { type: 'static', keys: ['b', 'a'] } } })
    story.story.lists.set(sha256, assets)
    story.request(changes)
    story.story.lists.delete(sha256)
    const fault = faultIn(story.reconcile()[0]?.drafts[0])
    expect(fault).toContain(`${code} `)
    expect(fault).toContain(`The list ${sha256}`)
    expect(fault).toContain(words)
  })
})
