// An automation without what it needs: it stays, says at its port what is missing, and works as soon as that is there. A
// setting that nobody can use ends it.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { status } from '@grpc/grpc-js'
import { afterAll, afterEach, describe, expect, jest, test } from '@jest/globals'
import { msToTs } from '@temporalio/common/lib/time.js'
import { type DevServer, startDevServer } from '../../src/cli/local/temporal-server.js'
import { startGrpcProxy } from '../faults/grpc-proxy.js'
import { type AutomationProcess, startAutomationProcess } from '../fixtures/automation-process.js'
import { startFakeGcs } from '../fixtures/fake-gcs.js'
import { freePort } from '../fixtures/free-port.js'
import { runServo } from '../fixtures/servo-process.js'
import { withTemporal } from '../fixtures/temporal.js'
import { temporalProgram } from '../fixtures/temporal-program.js'

jest.setTimeout(120_000) // no wait: the bound of a test that starts processes

const temporal = withTemporal()
const folder = mkdtempSync(join(tmpdir(), 'servo-absent-'))
const running: AutomationProcess[] = []
const servers: DevServer[] = []
afterEach(async () => {
  for (const automation of running.splice(0)) await automation.stop('SIGKILL')
  for (const server of servers.splice(0)) await server.stop()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let count = 0
const newStore = () => `local:${join(folder, `store-${++count}`)}`
/** Within this an operator has the exit code of a wrong setting. */
const EXIT_MS_MAX = 30_000

async function automation(environment: Readonly<Record<string, string>>): Promise<AutomationProcess> {
  const started = await startAutomationProcess({ TEMPORAL_ADDRESS: temporal().address, SERVO_STORE: newStore(), ...environment })
  running.push(started)
  return started
}

const setUp = (namespace: string) => runServo(['temporal', 'set-up', '--temporal', temporal().address, '--namespace', namespace])
const missing = (needs: string) => `servo_automation_missing{needs="${needs}"}`

describe('an automation that is started', () => {
  test('without its namespace, or without search attributes there, waits for both and works then', async () => {
    const waiting = await automation({ TEMPORAL_NAMESPACE: 'later' })
    expect(await waiting.lacking('namespace')).toBe(
      `Temporal at ${temporal().address} has no namespace later. Create what is missing with \`servo temporal set-up\`.`,
    )
    expect(await waiting.value(missing('namespace'))).toBe(1)
    expect(await waiting.value('servo_automation_state{state="waiting"}')).toBe(1)
    await temporal().connection.workflowService.registerNamespace({
      namespace: 'later',
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    })
    expect(await waiting.lacking('search_attributes')).toContain('lacks search attributes: ServoTenant (Keyword), ')
    expect(await waiting.value(missing('namespace'))).toBe(0)
    expect(await setUp('later')).toMatchObject({ code: 0 })
    await waiting.working()
    expect(await waiting.value(missing('search_attributes'))).toBe(0)
    expect(await waiting.value('servo_automation_state{state="working"}')).toBe(1)
    expect((await fetch(`${waiting.url}/readyz`)).status).toBe(200)
  })

  test('without Temporal waits for it', async () => {
    const port = await freePort()
    const waiting = await automation({ TEMPORAL_ADDRESS: `127.0.0.1:${port}` })
    expect(await waiting.lacking('temporal')).toContain(`Temporal at 127.0.0.1:${port} does not answer`)
    expect((await fetch(`${waiting.url}/readyz`)).status).toBe(503)
    servers.push(await startDevServer({ program: await temporalProgram(), port, log_file: join(folder, 'temporal.log') }))
    await waiting.working()
  })

  test('without its store waits for it', async () => {
    const port = await freePort()
    const environment = { SERVO_STORE: 'gs://servo-absent/x', STORAGE_EMULATOR_HOST: `http://127.0.0.1:${port}` }
    const waiting = await automation(environment)
    expect(await waiting.lacking('store')).toContain('ECONNREFUSED')
    expect(await waiting.value(missing('store'))).toBe(1)
    const gcs = await startFakeGcs('servo-absent', port)
    try {
      await waiting.working()
      expect(await waiting.value(missing('store'))).toBe(0)
    } finally {
      expect(await waiting.stop()).toMatchObject({ code: 0 })
      await gcs.stop()
    }
  })

  test('and stopped while it waits ends at once, in order', async () => {
    const waiting = await automation({ TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` })
    await waiting.lacking('temporal')
    const { code, stderr } = await waiting.stop()
    expect([code, stderr.split('\n').at(-1)]).toEqual([0, 'automation: ended'])
  })
})

describe('a setting that nobody can use ends the process with an exit code', () => {
  const ended = async (environment: Readonly<Record<string, string>>) => {
    const began = performance.now()
    const { finished } = await automation(environment)
    const { code, stderr } = await finished
    expect(performance.now() - began).toBeLessThan(EXIT_MS_MAX)
    return { code, stderr }
  }

  test('a folder that is a file', async () => {
    const file = join(folder, 'file')
    writeFileSync(file, '')
    expect(await ended({ SERVO_STORE: `local:${file}` })).toMatchObject({ code: 3, stderr: expect.stringContaining('is a file') })
  })

  test.each([
    ['an address without a port', { TEMPORAL_ADDRESS: 'temporal.example.com' }, 'TEMPORAL_ADDRESS is "temporal.example.com"'],
    ['an address with a port that there cannot be', { TEMPORAL_ADDRESS: 'localhost:72330' }, 'TEMPORAL_ADDRESS is "localhost:72330"'],
    ['a store of an unknown kind', { SERVO_STORE: 's3://bucket' }, 'SERVO_STORE is "s3://bucket"'],
  ])('%s', async (_, environment, said) => {
    expect(await ended(environment)).toMatchObject({ code: 2, stderr: expect.stringContaining(said) })
  })

  test('a key that Temporal does not know, and the address of another program that speaks gRPC', async () => {
    const refused = async (code: status, said: string) => {
      const proxy = await startGrpcProxy(undefined, () => ({ code, message: 'unknown' }))
      try {
        expect(await ended({ TEMPORAL_ADDRESS: proxy.address })).toMatchObject({ code: 2, stderr: expect.stringContaining(said) })
      } finally {
        await proxy.close()
      }
    }
    await Promise.all([refused(status.UNAUTHENTICATED, 'does not know this client'), refused(status.UNIMPLEMENTED, 'is not Temporal')])
  })

  test('and one that is refused for a moment, as while a proxy starts, does not', async () => {
    let isOpen = false
    const proxy = await startGrpcProxy(temporal().address, () =>
      isOpen ? undefined : { code: status.UNAUTHENTICATED, message: 'no key is known yet' },
    )
    try {
      const waiting = await automation({ TEMPORAL_ADDRESS: proxy.address })
      await waiting.lacking('temporal')
      isOpen = true
      await waiting.working()
      await waiting.stop()
    } finally {
      await proxy.close()
    }
  })
})
