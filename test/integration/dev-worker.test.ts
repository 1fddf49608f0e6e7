// The worker that `servo dev` keeps: newer code is loaded beside it, and takes its place when it is loaded. The worker here is a
// script that speaks as one does, and does what the file `code` says.

import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals'
import type { DeploySource } from '../../src/cli/local/deploy-source.js'
import { openRecords } from '../../src/cli/local/dev/records.js'
import { type Cause, type KeptWorker, keepWorker } from '../../src/cli/local/dev/worker.js'
import { until } from '../fixtures/until.js'

/** What it does is a line in `events`: its code, and what it was. */
const WORKER = `
const { appendFileSync, existsSync, readFileSync } = require('node:fs')
const code = readFileSync('code', 'utf8')
const note = (what) => appendFileSync('events', code + ' ' + what + '\\n')
setInterval(() => undefined, 1000) // no wait: it keeps a process that has nothing else to do
process.on('exit', () => note('ended'))
process.on('SIGTERM', () => {
  note('told to end')
  // What runs in it goes on until the file is there.
  setInterval(() => (!code.includes('busy') || existsSync('go')) && process.exit(0), 10) // it looks for its condition
})
process.on('message', ({ servo, problem }) => {
  if (servo === 'code_problem') note('hears: ' + problem)
  if (servo !== 'listen') return
  note('listens')
  note('has the secret of ' + process.env.SECRET_OF)
  process.send({ servo: 'listening' })
  if (code.includes('crashes')) setInterval(() => existsSync('crash') && process.exit(3), 10) // it looks for its condition
})
note('loads')
if (code.startsWith('bad')) {
  process.send({ servo: 'failed', problem: 'servo: ' + code + ' could not be loaded' }, () => process.exit(2))
} else if (code.startsWith('silent')) {
  console.log('its last line')
  process.exit(7)
} else if (!code.startsWith('slow')) {
  const location_name = code.startsWith('renamed') ? 'renamed' : 'main'
  process.send({ servo: 'loaded', source: { location_name, members: { assets: [], code_version: code } } })
}
`

const root = mkdtempSync(join(tmpdir(), 'servo-dev-worker-'))
let folder: string
let said: string[]
let asked: string[]
let served: (readonly [string, Cause])[]
let worker: KeptWorker | undefined

beforeEach(() => {
  folder = mkdtempSync(join(root, 'test-'))
  said = []
  asked = []
  served = []
  writeFileSync(join(folder, 'script.cjs'), `process.chdir(${JSON.stringify(folder)})\n${WORKER}`)
})
afterEach(async () => {
  writeFileSync(join(folder, 'go'), '')
  await worker?.stop()
  expect(readdirSync(join(folder, 'processes'))).toEqual([])
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const events = (): readonly string[] =>
  existsSync(join(folder, 'events')) ? readFileSync(join(folder, 'events'), 'utf8').trim().split('\n') : []
const happened = (event: string) => until(`"${event}" happens`, () => events().includes(event))

function keep(code: string, slow_after_ms = 60_000): KeptWorker {
  writeFileSync(join(folder, 'code'), code)
  const program = {
    name: 'worker',
    command: process.execPath,
    args: [join(folder, 'script.cjs')],
    log_file: join(folder, 'log'),
  }
  const onServing = ({ members }: DeploySource, cause: Cause) => void served.push([members.code_version ?? '', cause])
  const known = join(folder, 'known')
  const refusalOf = async ({ location_name, members: { code_version = '' } }: DeploySource) => {
    asked.push(`${code_version} of ${location_name}`)
    if (code_version.includes('waits')) await until('it is known', () => existsSync(known))
    return code_version.includes('refused') ? `${code_version} cannot be deployed` : undefined
  }
  const say = (line: string) => void said.push(line)
  const environmentOf = (location_name: string) => ({ SECRET_OF: location_name })
  const records = openRecords(folder)
  worker = keepWorker(program, {
    module: './a.ts',
    location_name: 'main',
    environmentOf,
    say,
    records,
    refusalOf,
    onServing,
    slow_after_ms,
  })
  return worker
}
function edit(code: string): void {
  writeFileSync(join(folder, 'code'), code)
  worker?.renew()
}
const recorded = () => readdirSync(join(folder, 'processes')).sort()

test('code that cannot be loaded leaves the worker that serves as it is, and mending it is enough', async () => {
  expect(await keep('one').settled).toBe(true)
  edit('bad two')
  await happened('one hears: bad two could not be loaded')
  expect(events()).not.toContain('one told to end')
  expect(said).toEqual([
    'bad two could not be loaded\nThe worker goes on with the code from before. Save the module, or what it imports, when it is mended.',
  ])
  edit('bad two')
  await until('it is loaded again', () => events().filter((event) => event === 'bad two ended').length === 2)
  edit('three')
  await happened('three listens')
  // One after the other: they listen on the same port.
  const order = ['one listens', 'one told to end', 'one ended', 'three listens']
  expect(events().filter((event) => order.includes(event))).toEqual(order)
  await until('it is known to serve', () => served.length === 2)
  expect(served).toEqual([
    ['one', 'start'],
    ['three', 'change'],
  ])
  expect(said).toHaveLength(1)
  expect(recorded()).toEqual(['worker.json'])
})

const REFUSED = 'cannot be deployed\nThe worker goes on with the code from before. Save the module, or what it imports, when it is mended.'

test('code whose deploy would be refused leaves the worker that serves as it is', async () => {
  await keep('refused one').settled
  // Nothing serves that it could take the place of.
  expect([asked, served]).toEqual([[], [['refused one', 'start']]])
  edit('renamed refused two')
  await happened('refused one hears: renamed refused two cannot be deployed')
  expect(events()).not.toContain('refused one told to end')
  expect(said).toEqual([`renamed refused two ${REFUSED}`])
  expect(asked).toEqual(['renamed refused two of renamed'])
  edit('three')
  await until('it serves', () => served.length === 2)
  expect([served[1], said.length]).toEqual([['three', 'change'], 1])
})

test('a change that comes while the deploy of the one before is planned is served, without a word about that one', async () => {
  await keep('one').settled
  edit('waits refused two')
  await until('it is planned', () => asked.length === 1)
  edit('three')
  await happened('three listens')
  writeFileSync(join(folder, 'known'), '')
  expect(said).toEqual([])
})

test('a stop while a deploy is planned does not wait for the plan', async () => {
  await keep('one').settled
  edit('waits two')
  await until('it is planned', () => asked.length === 1)
  await worker?.stop()
  writeFileSync(join(folder, 'known'), '')
  expect(recorded()).toEqual([])
  expect(events()).not.toContain('waits two listens')
  expect(said).toEqual([])
})

test('code that was refused is not served either when the worker before it ends by itself', async () => {
  await keep('crashes one').settled
  edit('refused two')
  await happened('crashes one hears: refused two cannot be deployed')
  appendFileSync(join(folder, 'crash'), '')
  await until('it is tried again', () => said.length === 3)
  expect(said[2]).toMatch(/^refused two cannot be deployed\nNo worker serves it until/)
  expect(events()).not.toContain('refused two listens')
})

test('code that ends its process says so by the last words of that', async () => {
  await keep('one').settled
  edit('silent')
  await until('it is told', () => said.length > 0)
  expect(said[0]).toBe(
    './a.ts could not be loaded: its worker ended (exit code 7).\nits last line\nThe worker goes on with the code from before. Save the module, or what it imports, when it is mended.',
  )
})

test('the newest of several changes is what is served, and no other', async () => {
  await keep('one').settled
  edit('slow two')
  await happened('slow two loads')
  expect(recorded()).toEqual(['worker-next.json', 'worker.json'])
  edit('three')
  await happened('three listens')
  expect(events().filter((event) => event.endsWith('listens'))).toEqual(['one listens', 'three listens'])
  expect(said).toEqual([])
})

test('the new code waits for what runs in the old one, which is told to end once', async () => {
  await keep('busy one').settled
  edit('two')
  await happened('busy one told to end')
  await until('the wait is told', () => said.length === 1)
  expect(said).toEqual(['./a.ts has changed and is loaded: the worker switches to it when what runs in it has ended.'])
  expect(events()).not.toContain('two listens')
  writeFileSync(join(folder, 'go'), '')
  await happened('two listens')
  expect(events().filter((event) => event === 'busy one told to end')).toHaveLength(1)
})

test('a stop while the old code ends tells it no second time, and nothing listens any more', async () => {
  await keep('busy one').settled
  edit('two')
  await happened('busy one told to end')
  const stopped = worker?.stop()
  await happened('two ended')
  writeFileSync(join(folder, 'go'), '')
  await stopped
  expect(events().filter((event) => event === 'busy one told to end')).toHaveLength(1)
  expect(events()).not.toContain('two listens')
})

test('a worker that ends by itself is started again, with what is there then', async () => {
  await keep('crashes one').settled
  edit('bad two')
  await happened('crashes one hears: bad two could not be loaded')
  appendFileSync(join(folder, 'crash'), '')
  await until('it is tried again and again', () => events().filter((event) => event === 'bad two loads').length >= 3)
  expect(said).toEqual([
    'bad two could not be loaded\nThe worker goes on with the code from before. Save the module, or what it imports, when it is mended.',
    expect.stringContaining('worker ended (exit code 3) and is started again.'),
    'bad two could not be loaded\nNo worker serves it until it can be loaded, which is tried again and again, and at once when it is saved.',
  ])
  writeFileSync(join(folder, 'code'), 'three')
  await until('it serves', () => served.length === 2)
  expect(served[1]).toEqual(['three', 'crash'])
})

test('a first load that fails is told, and the first code that can be loaded is a change', async () => {
  expect(await keep('bad one').settled).toBe(false)
  edit('two')
  await until('it serves', () => served.length === 1)
  expect(served).toEqual([['two', 'change']])
})

test('code of a location with another name gets the secret of that', async () => {
  await keep('one').settled
  expect(events()).toContain('one has the secret of main')
  edit('renamed')
  await happened('renamed has the secret of renamed')
  expect(events().filter((event) => event.startsWith('renamed '))).toEqual([
    'renamed loads',
    'renamed loads',
    'renamed listens',
    'renamed has the secret of renamed',
  ])
})

test('a load that takes long is told', async () => {
  await keep('one', 1).settled
  said = []
  edit('slow two')
  await until('it is told', () => said.length === 1)
  expect(said[0]).toMatch(/^\.\/a\.ts is still loading after 0\.001 s: .* The worker serves the code from before meanwhile\.$/)
})
