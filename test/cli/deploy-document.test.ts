// `servo deploy` of a document, for workers that are no module: the same plan, and the same faults, as of a module.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Commands, startCommands } from '../fixtures/api-commands.js'

let at: Commands
beforeAll(async () => {
  at = await startCommands()
})
afterAll(() => at.close())

describe('servo deploy of a document', () => {
  const orders = { asset_key: 'shop.orders', deps: [] }
  /** Nobody serves it here. */
  const worker = 'Worker http://127.0.0.1:7901 (as the document says), 8 slots (the default: no worker answers there).'
  const shop = { location_name: 'shop', worker_url: 'http://127.0.0.1:7901', sdk: 'python', assets: [orders] }

  test('shows the plan in a dry run, deploys, and the same again is nothing', async () => {
    const path = at.document(shop)
    expect(await at.servo('deploy', path, '--dry-run')).toMatchObject({ code: 0, stdout: `+ shop.orders\n${worker}` })
    expect((await at.ask.get('/code-locations/shop')).status).toBe(404)
    expect(await at.servo('deploy', path)).toMatchObject({
      code: 0,
      stdout: `+ shop.orders\n${worker}\nDeployed shop, version 1.`,
      stderr: '',
    })
    expect((await at.ask.get('/code-locations/shop')).body).toMatchObject({ worker_url: 'http://127.0.0.1:7901', sdk: 'python' })
    expect((await at.servo('deploy', path)).stdout).toContain('Nothing to deploy: version 1')
  })

  test('shows what another document changes; an option goes before what the document says', async () => {
    const changed = { ...shop, slots: 4, assets: [{ ...orders, code_version: '2' }] }
    const { stdout } = await at.servo('deploy', at.document(changed), '--slots', '3', '--dry-run')
    expect(stdout.split('\n')).toEqual([
      '~ location shop',
      '    slots: 8 -> 3',
      '~ shop.orders',
      '    code_version: (none) -> "2"',
      'Worker http://127.0.0.1:7901 (as the document says), 3 slots (--slots).',
    ])
  })

  test('says all that is wrong with it at once, by member', async () => {
    const { worker_url: _, ...rest } = { ...shop, slotz: 3, assets: [{ asset_key: 'shop.orders' }, { ...orders, priority: 'high' }] }
    const finished = await at.servo('deploy', at.document(rest))
    expect(finished).toMatchObject({ code: 2, stdout: '' })
    expect(finished.stderr).toMatch(/slotz/)
    expect(finished.stderr).toMatch(/assets\[0\]\.deps is missing\./)
    expect(finished.stderr).toMatch(/assets\[1\]\.priority is "high"\./)
    const related = { ...shop, assets: [{ ...orders, deps: [{ asset_key: 'shop.ordres' }] }, orders] }
    expect((await at.servo('deploy', at.document(related))).stderr).toMatch(
      / {2}- assets\[1\]\.asset_key: [\s\S]* {2}- assets\[0\]\.deps\[0\]/,
    )
  })

  test.each([
    ['is no JSON', '{"location_name"', /document-\d+\.json is no JSON object\. Write one such as \{"location_name": "shop"/],
    ['has no location_name', '{"assets": []}', /location_name is missing\. Give it a name/],
  ])('that %s: a sentence and exit code 2', async (_, text, sentence) => {
    expect(await at.servo('deploy', at.document(text))).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(sentence) })
  })

  test('that is not there: a sentence and exit code 2', async () => {
    const finished = await at.servo('deploy', 'nowhere.json')
    expect(finished).toMatchObject({ code: 2, stderr: expect.stringContaining('nowhere.json cannot be read.') })
  })
})
