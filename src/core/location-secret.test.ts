import { expect, test } from '@jest/globals'
import { isLocationSecret, locationSecret } from './location-secret.js'

const W1 = { secret_key_id: 'w1', secret: 'that-of-the-installation' }
const SHOP = { tenant_id: 'acme', workspace_id: 'prod', location_name: 'shop' }

test('each key of the installation gives each location of each workspace a secret of its own, under the same key id', () => {
  const all = [
    locationSecret(W1, SHOP),
    locationSecret(W1, { ...SHOP, location_name: 'shop2' }),
    locationSecret(W1, { ...SHOP, workspace_id: 'test' }),
    locationSecret(W1, { ...SHOP, tenant_id: 'other' }),
    locationSecret({ ...W1, secret_key_id: 'w2' }, SHOP),
    locationSecret({ ...W1, secret: 'another-of-an-installation' }, SHOP),
  ]
  expect(new Set(all.map(({ secret }) => secret)).size).toBe(all.length)
  expect(all.map(({ secret_key_id }) => secret_key_id)).toEqual(['w1', 'w1', 'w1', 'w1', 'w2', 'w1'])
  expect(locationSecret(W1, SHOP)).toEqual(all[0])
})

test('such a secret is told from one of the installation', () => {
  const own = locationSecret(W1, SHOP)
  expect(own.secret).toMatch(/^swl_[A-Za-z0-9_-]{43}$/)
  expect([own, W1, { ...own, secret: `${own.secret}x` }, { ...own, secret: 'swl_short' }].map(isLocationSecret)).toEqual([
    true,
    false,
    false,
    false,
  ])
})
