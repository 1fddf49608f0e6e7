import { expect, test } from '@jest/globals'
import { asset } from './asset.js'
import { defineCodeLocation } from './code-location.js'
import { describeAsset, describeLocation } from './definition.js'

const run = () => undefined
const summary = asset({ key: 'analytics.daily_summary', deps: ['raw.events'], retry: { max_attempts: 3 }, run })
const events = asset({ key: 'raw.events', deps: [], tags: { a: '1', b: '2' }, run })

// The hash is the golden one of DATA section 1.
test('a definition has the hash that the data contract says', () => {
  expect(describeAsset(summary)).toEqual({
    asset_key: 'analytics.daily_summary',
    definition_hash: '31bba02f91cd633fd8310b3ad2b2932e5241a300843712945094b7601ad57f4e',
    definition: { asset_key: 'analytics.daily_summary', deps: [{ asset_key: 'raw.events' }], retry: { max_attempts: 3 } },
  })
})

const same = asset({ run, tags: { b: '2', a: '1' }, deps: [], key: 'raw.events' })
const contentOf = (...assets: readonly (typeof summary | typeof events)[]) =>
  describeLocation(defineCodeLocation({ name: 'analytics', assets })).content_sha256

test('neither the order of members nor that of assets, dependencies and pools changes anything', () => {
  expect(describeAsset(same)).toEqual(describeAsset(events))
  expect(contentOf(summary, events)).toBe(contentOf(same, summary))
  const one = asset({ key: 'a', deps: ['b', 'c'], pools: ['x', 'y'], run })
  const other = asset({ key: 'a', deps: ['c', { asset: 'b', mapping: { type: 'identity' } }], pools: ['y', 'x'], run })
  expect(describeAsset(other)).toEqual(describeAsset(one))
})

test('assets are described in the order of their keys', () => {
  const described = describeLocation({ name: 'analytics', assets: [events, summary] })
  expect(described.location_name).toBe('analytics')
  expect(described.assets.map(({ asset_key }) => asset_key)).toEqual(['analytics.daily_summary', 'raw.events'])
})

test('the content changes with the name, an asset, and what an asset says, its description too; its hash not by that', () => {
  const explained = asset({ key: 'raw.events', deps: [], tags: { a: '1', b: '2' }, description: 'As they come.', run })
  expect(describeAsset(explained).definition_hash).toBe(describeAsset(events).definition_hash)
  const other = asset({ key: 'raw.events', deps: [], code_version: '2', run })
  expect(describeAsset(other).definition_hash).not.toBe(describeAsset(events).definition_hash)
  const renamed = describeLocation({ name: 'other', assets: [summary, events] }).content_sha256
  const contents = [contentOf(summary, events), contentOf(summary, explained), contentOf(summary, other), contentOf(summary), renamed]
  expect(new Set(contents).size).toBe(contents.length)
})
