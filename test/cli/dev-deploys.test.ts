// The deploys that `servo dev` makes by itself, on a real API with real turns.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { createApiClient } from '../../src/cli/client.js'
import type { DeploySource } from '../../src/cli/local/deploy-source.js'
import { createDeploys, type Deploys } from '../../src/cli/local/dev/deploys.js'
import { startBetween } from '../fixtures/api-commands.js'
import { type ApiWorld, type Asker, createApiWorld, createAsker, definition } from '../fixtures/api-world.js'
import { freePort } from '../fixtures/free-port.js'

let world: ApiWorld
let ask: Asker
let url: string
let said: string[]
let stopping: AbortController

beforeAll(async () => {
  world = createApiWorld()
  const api = await world.start()
  url = api.listeningOrigin
  ask = createAsker(api)
  await world.turn.run()
})
afterAll(() => world.close())
beforeEach(() => {
  said = []
  stopping = new AbortController()
})

const deploys = (api_url = url): Deploys =>
  createDeploys({
    client: createApiClient({ url: api_url, token: undefined }),
    module: './a.ts',
    worker: { worker_url: 'http://127.0.0.1:7801', slots: 8 },
    requested_by: 'ada',
    say: (line) => void said.push(line),
    signal: stopping.signal,
  })

const nightly = { schedule_name: 'nightly', cron_expressions: '30 2 * * *', asset_selection: ['a'] }
const source = (location_name: string, keys: readonly string[], schedules: readonly object[] = []) =>
  ({ location_name, members: { assets: keys.map((key) => definition(key)), schedules } }) as unknown as DeploySource
const keysOf = async (location_name: string) => {
  const { assets } = (await ask.get('/assets')).body as { readonly assets: readonly { asset_key: string; location_name: string }[] }
  return assets.filter((asset) => asset.location_name === location_name).map(({ asset_key }) => asset_key)
}

test('a start deploys what `servo deploy` would, a change removes nothing, and each is a line', async () => {
  const { deploy } = deploys()
  expect(await deploy(source('main', ['a', 'b'], [nightly]), 'start')).toBe(true)
  expect(await deploy(source('main', ['a', 'c']), 'change')).toBe(true)
  expect(await deploy(source('main', ['a', 'b', 'c'], [nightly]), 'change')).toBe(true)
  // Nobody has changed anything: there is nothing to say.
  expect(await deploy(source('main', ['a', 'b', 'c'], [nightly]), 'crash')).toBe(true)
  expect(await deploy(source('main', ['a', 'c']), 'start')).toBe(true)
  expect(said).toEqual([
    'Deployed main, version 1: + a, + b, + schedule nightly.',
    'Deployed main, version 2: + c. Kept, though ./a.ts does not have it any more: b, schedule nightly. `servo deploy ./a.ts` removes it. Until then no code serves b: such tasks fail after some retries.',
    'Nothing to deploy: version 2 of main is what ./a.ts says.',
    'Deployed main, version 3: - b, - schedule nightly.',
  ])
  expect(await keysOf('main')).toEqual(['a', 'c'])
  expect((await ask.get('/code-locations/main')).body).toMatchObject({ deployed_by: 'ada', worker_url: 'http://127.0.0.1:7801', slots: 8 })
})

test('of changes that come while one is deployed the last one is deployed', async () => {
  const { deploy } = deploys()
  const all = [['d1'], ['d1', 'd2'], ['d1', 'd2', 'd3']].map((keys) => deploy(source('quick', keys), 'change'))
  expect(await Promise.all(all)).toEqual([true, true, true])
  expect(said).toEqual(['Deployed quick, version 1: + d1, + d2, + d3.'])
})

test('a deploy that came between its plan and itself is planned on top of', async () => {
  let others = 0
  const between = await startBetween(url, async (path) => {
    if (!path.includes('dry_run') || others > 0) return
    others += 1
    await ask.post('/code-locations/shared/deploy', { worker_url: 'http://127.0.0.1:7801', slots: 8, assets: [definition('theirs')] })
  })
  await deploys(between.url).deploy(source('shared', ['ours']), 'change')
  between.close()
  expect(said).toEqual([
    'Deployed shared, version 2: + ours. Kept, though ./a.ts does not have it any more: theirs. `servo deploy ./a.ts` removes it. Until then no code serves theirs: such tasks fail after some retries.',
  ])
})

test('an API that is not up yet is waited for, and a first turn that has not come', async () => {
  const port = await freePort()
  const later = createApiWorld({ api_port: port })
  const deployed = deploys(`http://127.0.0.1:${port}`).deploy(source('main', ['a'], [nightly]), 'start')
  await later.start()
  // Until then a deploy with schedules is answered with 503.
  await later.turn.run()
  expect(await deployed).toBe(true)
  expect(said).toEqual(['Deployed main, version 1: + a, + schedule nightly.'])
  await later.close()
})

test('what the API refuses is told, and ends nothing', async () => {
  const { deploy } = deploys()
  expect(await deploy(source('wrong', ['x'], [{ ...nightly, cron_expressions: '99 2 * * *', asset_selection: ['x'] }]), 'change')).toBe(
    false,
  )
  expect(said).toEqual([
    expect.stringMatching(/^The definitions of \.\/a\.ts are not deployed: Nothing was deployed\. .*"99" is no minute/s),
  ])
  expect(await deploy(source('wrong', ['x']), 'change')).toBe(true)
})

test('the plan of a change says what the API would refuse, and changes nothing', async () => {
  const { deploy, refusalOf } = deploys()
  expect(await deploy(source('owner', ['owned']), 'start')).toBe(true)
  expect(await refusalOf(source('renamed', ['owned']))).toMatch(
    /^The definitions of \.\/a\.ts cannot be deployed: Nothing was deployed\. .*owned belongs to the code location owner\./s,
  )
  const wrong = { ...nightly, cron_expressions: '99 2 * * *', asset_selection: ['owned'] }
  expect(await refusalOf(source('owner', ['owned'], [wrong]))).toContain('"99" is no minute')
  expect(await refusalOf(source('owner', ['owned', 'new']))).toBeUndefined()
  expect(await keysOf('owner')).toEqual(['owned'])
  expect(said).toEqual(['Deployed owner, version 1: + owned.'])
})

test('an API that is away refuses nothing, and a stop ends the wait for one that is silent', async () => {
  const { refusalOf } = deploys(`http://127.0.0.1:${await freePort()}`)
  expect(await refusalOf(source('main', ['a']))).toBeUndefined()
  const silent = createServer(() => undefined)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const pending = deploys(`http://127.0.0.1:${port}`).refusalOf(source('main', ['a']))
  stopping.abort()
  expect(await pending).toBeUndefined()
  silent.closeAllConnections()
  silent.close()
})

test('a stop ends the wait for an API that never comes, without a word', async () => {
  const deployed = deploys(`http://127.0.0.1:${await freePort()}`).deploy(source('main', ['a']), 'start')
  stopping.abort()
  expect(await deployed).toBe(false)
  expect(said).toEqual([])
})
