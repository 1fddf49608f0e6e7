// `servo deploy` and `servo asset` on a real API with real turns: what is shown before, what stands after.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Commands, startBetween, startCommands } from '../fixtures/api-commands.js'
import { freePort } from '../fixtures/free-port.js'
import { runServo } from '../fixtures/servo-process.js'

let at: Commands
beforeAll(async () => {
  at = await startCommands()
})
afterAll(() => at.close())

const RUN = 'run: async () => undefined'
const ASSETS = `
const raw = asset({ key: 'raw_events', deps: [], code_version: VERSION, group: 'ingest', ${RUN} })
const clean = asset({ key: 'clean_events', deps: [raw], ${RUN} })
const daily = asset({ key: 'daily_summary', deps: [clean, raw], description: 'What happened in a day.', ${RUN} })
`
const versioned = (version: string) => ASSETS.replace('VERSION', JSON.stringify(version))
const all = (version = '1') => `${versioned(version)}export default defineCodeLocation({ name: 'quickstart', assets: [raw, clean, daily] })`
const two = `${versioned('2')}export default defineCodeLocation({ name: 'quickstart', assets: [raw, clean] })`

/** Nobody listens there: the first deploy names it, and the others keep it. */
let AWAY: string
let NEW_WORKER: string
beforeAll(async () => {
  AWAY = `http://127.0.0.1:${await freePort()}`
  NEW_WORKER = `Worker ${AWAY} (--worker-url), 8 slots (the default: no worker answers there).`
})

describe('servo deploy', () => {
  test('shows the plan and deploys nothing in a dry run', async () => {
    const finished = await at.servo('deploy', at.module(all()), '--dry-run', '--worker-url', AWAY)
    expect(finished).toMatchObject({ code: 0, stdout: `+ clean_events\n+ daily_summary\n+ raw_events\n${NEW_WORKER}` })
    expect(finished.stderr).toBe('Nothing was deployed: this is a dry run.')
    expect((await at.ask.get('/assets')).body).toMatchObject({ assets: [] })
  })

  test('deploys, and the same again is nothing', async () => {
    const path = at.module(all())
    const first = await at.servo('deploy', path, '--worker-url', AWAY)
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(first.stdout.endsWith(`+ raw_events\n${NEW_WORKER}\nDeployed quickstart, version 1.`)).toBe(true)
    expect(await at.servo('deploy', path)).toEqual({
      code: 0,
      stdout: [
        '= 3 unchanged',
        `Worker ${AWAY} (as deployed before), 8 slots (as deployed before: no worker answers there).`,
        'Nothing to deploy: version 1 is what you have.',
      ].join('\n'),
      stderr: '',
    })
  })

  test('shows which members change, of the assets and of the location', async () => {
    const finished = await at.servo('deploy', at.module(two), '--slots', '16')
    expect(finished.stdout.split('\n')).toEqual([
      '~ location quickstart',
      '    slots: 8 -> 16',
      '~ raw_events',
      '    code_version: "1" -> "2"',
      '- daily_summary',
      '= 1 unchanged',
      `Worker ${AWAY} (as deployed before), 16 slots (--slots).`,
      'Deployed quickstart, version 2.',
    ])
  })

  test('answers programs with one value', async () => {
    const { code, stdout } = await at.servo('deploy', at.module(all('2')), '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      dry_run: false,
      location_version: 3,
      diff: { added: ['daily_summary'] },
      outcome: { kind: 'applied' },
      worker: { worker_url: AWAY, slots: 16, slots_from: 'as deployed before: no worker answers there' },
    })
  })

  test('does not wait where it is told so', async () => {
    at.world.holdTurns()
    const finished = await at.servo('deploy', at.module(all('3')), '--no-wait')
    at.world.releaseTurns()
    expect(finished).toMatchObject({ code: 0, stdout: expect.stringContaining('Sent the deploy of quickstart.') })
    expect((await at.servo('deploy', at.module(all('3')))).stdout).toContain('Nothing to deploy: version 4')
  })

  test('loses to whoever deployed after its plan was made, and says so', async () => {
    const between = await startBetween(at.url, async (url) => {
      if (url.includes('dry_run')) expect(await at.servo('deploy', at.module(all('of somebody else')))).toMatchObject({ code: 0 })
    })
    // The shell runs one command after the other, and this one waits for another: it is a process of its own.
    const finished = await runServo(['deploy', at.module(all('4')), '--api', between.url])
    between.close()
    expect(finished.code).toBe(1)
    expect(finished.stderr).toBe(
      'servo: The code location quickstart is at version 5, and this deploy was made for version 4: somebody else deployed. Look at the difference again, and deploy anew.',
    )
    expect((await at.ask.get('/code-locations/quickstart')).body).toMatchObject({ location_version: 5 })
  })

  test.each([
    ['a module that is not there', 'nowhere.mjs', 'nowhere.mjs was not found.'],
    ['no module', undefined, "Missing required argument 'module'"],
  ])('%s: a sentence and exit code 2', async (_, path, sentence) => {
    const finished = await at.servo('deploy', ...(path === undefined ? [] : [path]))
    expect(finished).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) })
  })

  test('says all that is wrong with a module at once', async () => {
    const body = `const a = asset({ key: 'bad key', deps: [], priority: 'high', ${RUN} })\nexport default defineCodeLocation({ name: 'x', assets: [a] })`
    const finished = await at.servo('deploy', at.module(body))
    expect(finished).toMatchObject({ code: 2, stdout: '' })
    expect(finished.stderr).toMatch(/bad key[\s\S]*priority/)
    expect(finished.stderr).not.toContain('    at ')
  })

  test('shows what the API refuses, a fault a line', async () => {
    const body = `const a = asset({ key: 'a', deps: ['raw_evnts', 'nothing_like_it'], ${RUN} })\nexport default defineCodeLocation({ name: 'other', assets: [a] })`
    const finished = await at.servo('deploy', at.module(body))
    expect(finished).toMatchObject({ code: 2, stdout: '' })
    expect(finished.stderr).toMatch(
      /^servo: Nothing was deployed\.\n {2}- assets.*nothing_like_it.*\n {2}- assets.*Did you mean raw_events\?$/,
    )
  })
})

describe('servo asset', () => {
  test('lists, filters and shows', async () => {
    expect((await at.servo('asset', 'list', '--group', 'ingest')).stdout).toMatch(/raw_events.*ingest.*quickstart/)
    expect(await at.servo('asset', 'list', '--group', 'nobody')).toMatchObject({ code: 0, stdout: '', stderr: 'No asset fits.' })
    const keys = JSON.parse((await at.servo('asset', 'list', '--json')).stdout) as readonly { readonly asset_key: string }[]
    expect(keys.map(({ asset_key }) => asset_key)).toEqual(['clean_events', 'daily_summary', 'raw_events'])
    const shown = await at.servo('asset', 'show', 'daily_summary')
    expect(shown.stdout).toMatch(/^Asset daily_summary\n {2}about +What happened in a day\.\n/)
    expect(shown.stdout).toMatch(/needs +clean_events, raw_events/)
    expect(shown.stdout).toMatch(/materialized +not yet/)
    expect(JSON.parse((await at.servo('asset', 'show', 'raw_events', '--json')).stdout)).toMatchObject({
      downstream: ['clean_events', 'daily_summary'],
    })
  })

  test('draws the graph, upstream first', async () => {
    expect((await at.servo('asset', 'graph')).stdout.split('\n')).toEqual([
      'raw_events  [ingest]',
      '├─ clean_events',
      '│  └─ daily_summary  (further down)',
      '└─ daily_summary',
    ])
    expect(JSON.parse((await at.servo('asset', 'graph', '--json')).stdout)).toMatchObject({
      edges: expect.arrayContaining([{ from: 'raw_events', to: 'clean_events' }]),
    })
  })

  test('is not there: exit code 1', async () => {
    const finished = await at.servo('asset', 'show', 'raw_evnts')
    expect(finished).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('raw_evnts') })
  })
})

describe('the worker of a deploy', () => {
  const named = (name: string) =>
    `const own = asset({ key: '${name}_rows', deps: [], ${RUN} })\nexport default defineCodeLocation({ name: '${name}', assets: [own] })`
  const workerOf = async (location_name: string, slots: number, prefetch?: number) => {
    const said = JSON.stringify({ status: 'ok', location_name, running: 0, slots, prefetch })
    const server = createServer((_, response) => response.end(said))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
  }
  const recorded = async (name: string) => (await at.ask.get(`/code-locations/${name}`)).body

  test('says its own slots, which stay when it does not answer any more', async () => {
    const worker = await workerOf('served', 3)
    const first = await at.servo('deploy', at.module(named('served')), '--worker-url', worker.url)
    expect(first.stdout).toContain(`Worker ${worker.url} (--worker-url), 3 slots (as the worker says).`)
    expect(await recorded('served')).toMatchObject({ worker_url: worker.url, slots: 3 })
    worker.close()
    const second = await at.servo('deploy', at.module(named('served')))
    expect(second.stdout).toContain(`Worker ${worker.url} (as deployed before), 3 slots (as deployed before: no worker answers there).`)
    expect(await recorded('served')).toMatchObject({ location_version: 1, worker_url: worker.url, slots: 3 })
  })

  test('says how many attempts it keeps beyond its slots; one that does not say so keeps none', async () => {
    const deploy = (url: string, ...options: readonly string[]) =>
      at.servo('deploy', at.module(named('ahead')), '--worker-url', url, ...options)
    const [worker, older] = [await workerOf('ahead', 3, 96), await workerOf('ahead', 3)]
    expect((await deploy(worker.url)).stdout).toContain('3 slots (as the worker says), up to 96 attempts ahead (as the worker says).')
    expect(await recorded('ahead')).toMatchObject({ slots: 3, prefetch: 96 })
    const off = await deploy(worker.url, '--prefetch', '0')
    expect(off.stdout).toContain('    prefetch: 96 -> 0\n')
    expect(off.stdout).toContain('3 slots (as the worker says).')
    expect((await deploy(worker.url, '--slots', '5')).stdout).toContain('5 slots (--slots), up to 96 attempts ahead (as the worker says).')
    worker.close()
    expect((await deploy(worker.url)).stdout).toContain('up to 96 attempts ahead (as deployed before: no worker answers there).')
    expect((await deploy(older.url)).stdout).toContain('    prefetch: 96 -> 0\n')
    older.close()
    expect(await recorded('ahead')).toMatchObject({ prefetch: null })
  })

  test('of another location is not asked', async () => {
    const worker = await workerOf('another', 3)
    const finished = await at.servo('deploy', at.module(named('lonely')), '--worker-url', worker.url)
    worker.close()
    expect(finished.stdout).toContain('8 slots (the default: it serves another there).')
  })

  test('is where the last deploy said, then where the environment says', async () => {
    const module = at.module(named('told'))
    const environment = { SERVO_WORKER_URL: 'http://127.0.0.1:9' }
    const first = await runServo(['deploy', module, '--api', at.url], environment)
    expect(first.stdout).toContain('Worker http://127.0.0.1:9 (SERVO_WORKER_URL), 8 slots (the default: no worker answers there).')
    const second = await runServo(['deploy', module, '--api', at.url], { SERVO_WORKER_URL: 'http://127.0.0.1:10' })
    expect(second.stdout).toContain(
      'Worker http://127.0.0.1:9 (as deployed before; SERVO_WORKER_URL says http://127.0.0.1:10: give --worker-url to change it), 8 slots',
    )
    expect(await recorded('told')).toMatchObject({ location_version: 1, worker_url: 'http://127.0.0.1:9' })
  })
})
