// The parts of `servo dev` that are hard to see from outside: its lock, what it writes down, how it renews what it keeps
// running, and the watch on a module.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { UsageError } from '../../src/cli/exit-code.js'
import { openDataFolder } from '../../src/cli/local/dev/data-folder.js'
import { exportLine } from '../../src/cli/local/dev/exports.js'
import { LOCK_FILE, takeLock } from '../../src/cli/local/dev/lock.js'
import { loopsPage } from '../../src/cli/local/dev/loops-page.js'
import { refuseBusyPorts } from '../../src/cli/local/dev/ports.js'
import { identityIn, identityOf, isRunning } from '../../src/cli/local/dev/process-identity.js'
import { endLeftOver, openRecords } from '../../src/cli/local/dev/records.js'
import { forgetTemporal, noteTemporal, runningTemporal } from '../../src/cli/local/dev/running-temporal.js'
import { summaryText } from '../../src/cli/local/dev/summary.js'
import { type Kept, keepRunning } from '../../src/cli/local/dev/supervisor.js'
import { watchCode } from '../../src/cli/local/dev/watch.js'
import { freePort } from '../fixtures/free-port.js'
import { runServo } from '../fixtures/servo-process.js'
import { until } from '../fixtures/until.js'

// What keeps a process that has nothing else to do.
const STAY = 'setInterval(() => undefined, 1000)'

const root = mkdtempSync(join(tmpdir(), 'servo-dev-parts-'))
let folder: string
let said: string[]
const say = (line: string) => void said.push(line)
const children: ChildProcess[] = []
let open: { readonly stop: () => unknown }[]

beforeEach(() => {
  folder = mkdtempSync(join(root, 'test-'))
  said = []
  open = []
})
afterEach(async () => {
  for (const one of open) await one.stop()
})
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(root, { recursive: true, force: true })
})

/** Says that it is there by a file, when its handlers are. */
async function startNode(script: string): Promise<ChildProcess & { readonly pid: number }> {
  const ready = join(folder, `ready-${children.length}`)
  const code = `${script}; require('node:fs').writeFileSync(${JSON.stringify(ready)}, ''); ${STAY}`
  const child = spawn(process.execPath, ['-e', code], { stdio: 'ignore', detached: true })
  children.push(child)
  await until('the process is ready', () => existsSync(ready))
  return child as ChildProcess & { readonly pid: number }
}

describe('the secrets of a data folder', () => {
  test.each([
    ['no JSON', '{"SERVO_SECRETS": "dev1:a'],
    ['nothing', ''],
    ['null', 'null'],
    ['one of them alone', '{"SERVO_SECRETS": "dev1:abc"}'],
  ])('that are damaged are named with their file, and with what to do: %s', async (_, text) => {
    const file = join(folder, 'secrets.json')
    writeFileSync(file, text)
    await expect(openDataFolder(folder)).rejects.toThrow(
      `${file} does not hold the secrets that it should. Restore it, or delete it: tasks that run now are then tried again.`,
    )
  })
})

describe('the ports', () => {
  const api = { whose: 'the API', flag: '--port' }
  const worker = { whose: 'the worker', flag: '--worker-port' }
  const ui = { whose: "Temporal's UI", flag: '--ui-port' }

  test('of which two are one are named with both flags, and no other program is blamed', async () => {
    const port = await freePort()
    const wanted = [api, worker, ui].map((each) => ({ ...each, port: each === ui ? 7 : port }))
    const refused = new UsageError(
      `Port ${port} is given to the API (--port) and the worker (--worker-port): give each of them a port of its own.`,
    )
    await expect(refuseBusyPorts(wanted)).rejects.toEqual(refused)
  })

  test('that differ are looked at', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const refused = refuseBusyPorts([
      { ...api, port },
      { ...worker, port: await freePort() },
    ])
    await expect(refused).rejects.toThrow(`Port ${port}, for the API, is taken by another program: give another one with --port.`)
    taken.close()
  })
})

describe('Temporal', () => {
  test('that is named and away is told before anything is started, with the way out', async () => {
    const address = `127.0.0.1:${await freePort()}`
    const finished = await runServo(['dev', '--data', folder], { TEMPORAL_ADDRESS: address })
    expect(finished).toMatchObject({ code: 2, stdout: '' })
    expect(finished.stderr).toMatch(
      new RegExp(
        `^servo: TEMPORAL_ADDRESS names the Temporal server ${address}, and ${address} does not answer: .*\nStart that server. Or let \`servo dev\` start a server of its own: \`unset TEMPORAL_ADDRESS\`\\.$`,
      ),
    )
    expect(readdirSync(folder)).not.toContain('processes')
  })

  test('of a data folder is known while its `servo dev` runs, also by the store in it', async () => {
    noteTemporal(folder, '127.0.0.1:7333')
    expect(runningTemporal(folder, '')).toBeUndefined()
    const release = await takeLock(join(folder, LOCK_FILE), folder)
    expect([runningTemporal(folder, ''), runningTemporal('nowhere', `local:${folder}/store`)]).toEqual(['127.0.0.1:7333', '127.0.0.1:7333'])
    expect([runningTemporal('nowhere', `local:${folder}/other`), runningTemporal('nowhere', 'gs://bucket/store')]).toEqual([
      undefined,
      undefined,
    ])
    forgetTemporal(folder)
    expect(runningTemporal(folder, '')).toBeUndefined()
    release()
  })

  test('is no setting for commands in other terminals: the next `servo dev` there would take it for its own', () => {
    const scope = { tenant_id: 'default', workspace_id: 'default' }
    const reached = { api_url: 'http://127.0.0.1:7900', worker_url: undefined, data_folder: folder, scope }
    const line = `export SERVO_API=http://127.0.0.1:7900 SERVO_STORE=local:${folder}/store`
    expect(exportLine(reached)).toBe(line)
    expect(exportLine({ ...reached, scope: { ...scope, workspace_id: 'second' } })).toBe(`${line} SERVO_WORKSPACE=second`)
  })
})

describe('the summary', () => {
  const up = {
    api_url: 'http://127.0.0.1:7800',
    temporal_address: '127.0.0.1:7233',
    loops_url: loopsPage('http://127.0.0.1:8233', { tenant_id: 'default', workspace_id: 'second' }),
    worker: { url: 'http://127.0.0.1:7801', is_serving: true },
    data_folder: '/data',
    export_line: undefined,
    failing: [],
  }

  test('says where everything is', () => {
    expect(summaryText(up)).toBe(
      [
        'Servo is up.',
        '  API       http://127.0.0.1:7800   (http://127.0.0.1:7800/openapi.json)',
        '  Temporal  http://127.0.0.1:8233/namespaces/servo/workflows?query=ServoTenant%3D%22default%22%20AND%20ServoWorkspace%3D%22second%22%20AND%20ExecutionStatus%3D%22Running%22',
        '  worker    http://127.0.0.1:7801',
        '  data      /data',
      ].join('\n'),
    )
  })

  test.each([
    [
      'a process that ends again and again',
      { failing: ['automation'] },
      /^Servo is up without its automation, which ended and is started again/,
    ],
    [
      'a worker without code',
      { worker: { ...up.worker, is_serving: false } },
      / worker {4}http:\S+ {3}\(it serves nothing yet: why is above\)$/m,
    ],
    ['a server that is not its own', { loops_url: undefined }, /^ {2}Temporal {2}127\.0\.0\.1:7233, as TEMPORAL_ADDRESS says$/m],
  ])('does not pass over %s', (_, more, line) => {
    expect(summaryText({ ...up, ...more })).toMatch(line)
  })
})

describe('the lock of a data folder', () => {
  const file = () => join(folder, 'dev.pid')

  test('is held by one, until it is given back', async () => {
    const release = await takeLock(file(), folder)
    await expect(takeLock(file(), folder)).rejects.toThrow(`runs already on ${folder}, as process ${process.pid}. Stop it`)
    release()
    ;(await takeLock(file(), folder))()
    expect(existsSync(file())).toBe(false)
  })

  test.each([
    ['an empty file', ''],
    ['half a file', '{"pid":'],
    ['a process that is gone', JSON.stringify({ pid: 2 ** 22, began: '1', command: 'servo dev' })],
  ])('is taken over from %s', async (_, text) => {
    writeFileSync(file(), text)
    const release = await takeLock(file(), folder)
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toMatchObject({ pid: process.pid })
    release()
  })

  test('is taken over from a process that got the same number later', async () => {
    const other = await startNode('')
    writeFileSync(file(), JSON.stringify({ ...identityOf(other.pid), command: 'node servo dev' }))
    ;(await takeLock(file(), folder))()
    writeFileSync(file(), JSON.stringify(identityOf(other.pid)))
    await expect(takeLock(file(), folder)).rejects.toThrow(`as process ${other.pid}`)
  })

  test('that is abandoned is taken by one of many', async () => {
    writeFileSync(file(), '{}')
    const taken = await Promise.allSettled(Array.from({ length: 10 }, () => takeLock(file(), folder)))
    expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})

describe('what is written down', () => {
  test('is ended by the next start, with SIGKILL where nothing else helps', async () => {
    const child = await startNode("process.on('SIGTERM', () => undefined)")
    openRecords(folder).add('stubborn', child.pid)
    await endLeftOver(folder, { say, grace_ms: 50 })
    expect(identityOf(child.pid)).toBeUndefined()
    expect(said).toEqual([
      `The stubborn of an earlier run is still there, as process ${child.pid}, and is ended.`,
      `The stubborn, process ${child.pid}, did not end within 0.05 s, and is killed.`,
    ])
    said = []
    await endLeftOver(folder, { say })
    expect(said).toEqual([])
  })

  test('is let alone where its number belongs to another process now', async () => {
    const child = await startNode('')
    openRecords(folder).add('api', child.pid)
    const file = join(folder, 'processes', 'api.json')
    writeFileSync(file, readFileSync(file, 'utf8').replace('"began":"', '"began":"1'))
    await endLeftOver(folder, { say })
    expect(identityOf(child.pid)).toBeDefined()
    expect(existsSync(file)).toBe(false)
  })

  test('ends in the opposite order', async () => {
    const records = openRecords(folder)
    for (const name of ['first', 'second', 'third']) records.add(name, (await startNode('')).pid)
    await endLeftOver(folder, { say })
    expect(said.map((line) => line.split(' ')[1])).toEqual(['third', 'second', 'first'])
  })
})

describe('the identity of a process', () => {
  // The layout of /proc, because no process can be stopped between the two reads.
  const proc = (stat: string, cmdline: string): string => {
    mkdirSync(join(folder, '77'), { recursive: true })
    writeFileSync(join(folder, '77', 'stat'), stat)
    writeFileSync(join(folder, '77', 'cmdline'), cmdline)
    return folder
  }
  const stat = (state: string) => `77 (node (x) y) ${state} 1 ${'0 '.repeat(17)}4711 0`

  test('is its number, its command line and when it began', () => {
    expect(identityIn(proc(stat('S'), 'node\0worker\0'), 77)).toEqual({ pid: 77, began: '4711', command: 'node worker' })
  })

  test.each([
    ['whose command line is empty, because it ended after its state was read', 'R', ''],
    ['that waits to be collected', 'Z', ''],
    ['that is dead', 'X', 'node\0'],
  ])('is that of nobody where it is one %s', (_, state, cmdline) => {
    expect(identityIn(proc(stat(state), cmdline), 77)).toBeUndefined()
  })

  test('is kept by one that has emptied its own title', () => {
    expect(identityIn(proc(stat('S'), '\0\0\0'), 77)).toEqual({ pid: 77, began: '4711', command: '' })
  })
})

describe('a process that is kept running', () => {
  const countIn = (name: string) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8').length : 0)
  const keep = (script: string, stop_grace_ms = 40_000): Kept => {
    const args = ['-e', `process.chdir(${JSON.stringify(folder)}); ${script}`]
    const program = { name: 'kept', command: process.execPath, args, environment: {}, log_file: join(folder, 'log') }
    const kept = keepRunning(program, { say, records: openRecords(folder), stop_grace_ms })
    open.push(kept)
    return kept
  }

  test('is killed where it does not end, with what it has started', async () => {
    const kept = keep(
      `process.on('SIGTERM', () => undefined)
       const child = require('node:child_process').spawn(process.execPath, ['-e', '${STAY}'])
       require('node:fs').writeFileSync('grandchild', String(child.pid)); ${STAY}`,
      100,
    )
    const pid = await until(
      'its child is there',
      () => Number(existsSync(join(folder, 'grandchild')) && readFileSync(join(folder, 'grandchild'), 'utf8')) || undefined,
    )
    const grandchild = identityOf(pid)
    await kept.stop()
    await until('its child is gone', () => grandchild !== undefined && !isRunning(grandchild))
  })

  test('that ends for the same reason is told of once', async () => {
    const kept = keep("require('node:fs').appendFileSync('starts', 's'); console.log('broken'); process.exit(1)")
    await until('it was started three times', () => countIn('starts') >= 3)
    expect(kept.endings()).toBeGreaterThanOrEqual(2)
    expect(said).toHaveLength(1)
    expect(said[0]).toContain('kept ended (exit code 1) and is started again.')
  })
})

describe('the watch on a module', () => {
  let changes: number
  const watched = (folders_max?: number) => {
    changes = 0
    const data_folder = join(folder, 'data')
    for (const name of ['data', 'node_modules/x', '.hidden', 'lib']) mkdirSync(join(folder, name), { recursive: true })
    const options = { module: join(folder, 'module.ts'), data_folder, onChange: () => (changes += 1), say }
    open.push(watchCode(folders_max === undefined ? options : { ...options, folders_max }))
  }
  const touch = (path: string) => writeFileSync(join(folder, path), String(Math.random()))

  test('calls for code beside it and below it, and for folders that come', async () => {
    watched()
    touch('lib/a.ts')
    await until('it calls', () => changes === 1)
    mkdirSync(join(folder, 'new/deep'), { recursive: true })
    touch('new/deep/a.ts')
    await until('it calls for a folder that came', () => changes === 2)
    touch('new/deep/a.ts')
    await until('it goes on with that folder', () => changes === 3)
    expect(said).toEqual([])
  })

  test.each(['data', 'node_modules/x', '.hidden'])('leaves out %s', async (name) => {
    watched()
    let witnessed = 0
    const witness = { module: join(folder, name, 'module.ts'), data_folder: '', onChange: () => (witnessed += 1), say }
    open.push(watchCode(witness))
    touch(`${name}/a.ts`)
    // It was asked later, so it calls later than this one would.
    await until('one that looks there has called', () => witnessed === 1)
    expect(changes).toBe(0)
    touch('module.ts')
    await until('it calls for its own', () => changes > 0)
    expect(changes).toBe(1)
  })

  test('knows code by its ending', async () => {
    watched()
    for (const [i, ending] of ['ts', 'mts', 'cts', 'tsx', 'js', 'mjs', 'cjs', 'jsx'].entries()) {
      touch(`lib/a.${ending}`)
      await until(`it calls for .${ending}`, () => changes === i + 1)
    }
  })

  // What a task writes is not the code that writes it.
  test.each(['json', 'csv', 'txt'])('leaves out what a task writes beside the module: .%s', async (ending) => {
    watched()
    let witnessed = 0
    const witness = { module: join(folder, '.hidden', 'module.ts'), data_folder: '', onChange: () => (witnessed += 1), say }
    open.push(watchCode(witness))
    touch(`report.${ending}`)
    touch(`lib/report.${ending}`)
    touch('.hidden/a.ts')
    await until('one that was asked later has called', () => witnessed === 1)
    expect(changes).toBe(0)
    touch('module.ts')
    await until('it calls for code', () => changes > 0)
    expect(changes).toBe(1)
  })

  test('says that it has ended, why, and what to do', async () => {
    watched()
    rmSync(folder, { recursive: true })
    await until('it says so', () => said.length > 0)
    expect(said).toEqual([
      `Changes of ${join(folder, 'module.ts')} are not noticed any more: its folder ${folder} is gone. The worker keeps the code that it has; start \`servo dev\` again to run another.`,
    ])
  })

  test('says where there is more than it looks at', () => {
    watched(1)
    expect(said).toEqual([expect.stringContaining(`There are more than 1 folders below ${folder}`)])
  })
})
