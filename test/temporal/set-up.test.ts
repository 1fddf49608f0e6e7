// `servo temporal set-up`: a namespace that is not there, one that lacks search attributes, one that is complete, and a server
// that does not let this client create anything.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { status } from '@grpc/grpc-js'
import { beforeAll, describe, expect, jest, test } from '@jest/globals'
import { Client } from '@temporalio/client'
import { ensureLoops } from '../../src/activities/ensure-loops.js'
import { startWorkspaceLoop } from '../../src/activities/start-loops.js'
import { lookAtNamespace } from '../../src/bin/temporal-namespace.js'
import { checkTemporal } from '../../src/cli/local/doctor/temporal.js'
import { ALL_SEARCH_ATTRIBUTES, SEARCH_ATTRIBUTES } from '../../src/core/names.js'
import { startGrpcProxy } from '../faults/grpc-proxy.js'
import { runServo } from '../fixtures/servo-process.js'
import { withTemporal } from '../fixtures/temporal.js'
import { temporalProgram } from '../fixtures/temporal-program.js'
import { until } from '../fixtures/until.js'

jest.setTimeout(120_000) // no wait: the bound of a test that starts processes

const temporal = withTemporal()
const NAMES = Object.keys(ALL_SEARCH_ATTRIBUTES)
let program: string
beforeAll(async () => {
  program = await temporalProgram()
})

const setUp = (namespace: string, address = temporal().address) =>
  runServo(['temporal', 'set-up', '--temporal', address, '--namespace', namespace])
const lookAt = (namespace: string) => lookAtNamespace(temporal().connection, namespace)

describe('servo temporal set-up', () => {
  test('creates a namespace with its search attributes, and changes nothing the second time', async () => {
    expect(await lookAt('fresh')).toMatchObject({ is_there: false })
    expect(await setUp('fresh')).toMatchObject({
      code: 0,
      stdout: `The namespace fresh was created.\nCreated search attributes: ${NAMES.join(', ')}.`,
    })
    expect(await lookAt('fresh')).toEqual({ is_there: true, missing: [], mistyped: [], optional_missing: [] })
    expect(await setUp('fresh')).toMatchObject({ code: 0, stdout: 'The namespace fresh is there.\nAll 7 search attributes are there.' })
  })

  test('creates the search attributes that a namespace lacks', async () => {
    await operator(['namespace', 'create', '--namespace', 'bare'])
    await operator(['search-attribute', 'create', '--namespace', 'bare', '--name', 'ServoKind', '--type', 'Keyword'])
    const { code, stdout } = await setUp('bare')
    expect([code, stdout]).toEqual([
      0,
      `The namespace bare is there.\nCreated search attributes: ${NAMES.filter((name) => name !== 'ServoKind').join(', ')}.`,
    ])
    expect((await lookAt('bare')).missing).toEqual([])
  })

  test('adds the attribute of names, without which a namespace works as well, to one that lacks only that', async () => {
    await operator(['namespace', 'create', '--namespace', 'nameless'])
    const required = Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => ['--name', name, '--type', type])
    await operator(['search-attribute', 'create', '--namespace', 'nameless', ...required])
    await until('it has all that is needed', async () => (await lookAt('nameless')).missing.length === 0)
    expect(await lookAt('nameless')).toMatchObject({ mistyped: [], optional_missing: [['ServoName', 'Keyword']] })
    const { address } = temporal()
    expect(await checkTemporal({ address, namespace: 'nameless' })).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        found: expect.stringContaining('ServoName missing'),
        mend: expect.stringContaining('servo temporal set-up'),
      }),
    )
    const client = new Client({ connection: temporal().connection, namespace: 'nameless' })
    const deps = {
      client,
      scope: { tenant_id: 'acme', workspace_id: 'nameless' },
    }
    expect((await ensureLoops({ ...deps, has_names: false })).started).toEqual(['workspace', 'maintenance'])
    await expect(
      startWorkspaceLoop({ ...deps, scope: { ...deps.scope, workspace_id: 'other' }, has_names: true }, 'workspace'),
    ).rejects.toThrow()
    expect(await setUp('nameless')).toMatchObject({
      code: 0,
      stdout: 'The namespace nameless is there.\nCreated search attributes: ServoName.',
    })
    expect((await checkTemporal({ address, namespace: 'nameless' })).map(({ level }) => level)).toEqual(['ok', 'ok', 'ok'])
  })

  test('refuses a search attribute of another type, which Temporal cannot change', async () => {
    await operator(['namespace', 'create', '--namespace', 'mistyped'])
    await operator(['search-attribute', 'create', '--namespace', 'mistyped', '--name', 'ServoNextFireAt', '--type', 'Keyword'])
    const { code, stderr } = await setUp('mistyped')
    expect(code).toBe(1)
    expect(stderr).toContain('ServoNextFireAt has to be of type Datetime')
  })

  test('prints commands that do the same where the server does not allow it', async () => {
    const { address } = temporal()
    const proxy = await startGrpcProxy(address, (method, service) =>
      method === 'RegisterNamespace' || service.endsWith('OperatorService')
        ? { code: status.PERMISSION_DENIED, message: 'Request unauthorized.' }
        : undefined,
    )
    try {
      const refused = await setUp('forbidden', proxy.address)
      expect(refused.code).toBe(1)
      expect(refused.stderr).toContain('does not let this client create what is missing')
      const commands = refused.stdout.split('\n')
      expect(commands).toHaveLength(2)
      for (const command of commands) {
        const [name, ...args] = command.replaceAll(proxy.address, address).split(' ')
        expect(name).toBe('temporal')
        await run(args)
      }
      expect(await lookAt('forbidden')).toEqual({ is_there: true, missing: [], mistyped: [], optional_missing: [] })
      // It sees by itself what an administrator has created, without the service that it may not ask.
      expect(await setUp('forbidden', proxy.address)).toMatchObject({ code: 0, stdout: expect.stringContaining('All 7 search attributes') })
      const named = proxy.calls.filter((method) => method === 'CountWorkflowExecutions')
      expect(named.length).toBeGreaterThanOrEqual(NAMES.length)
    } finally {
      await proxy.close()
    }
  })

  test('says where it looked when no server answers', async () => {
    const { code, stderr } = await setUp('fresh', '127.0.0.1:9')
    expect(code).toBe(3)
    expect(stderr).toContain('Temporal at 127.0.0.1:9 does not answer')
    expect(await runServo(['temporal', 'set-up', '--temporal', 'localhost'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Give it host and port'),
    })
  })
})

/** A server that has just created a namespace may not know it for a moment. */
const run = (args: readonly string[]): Promise<true> =>
  until(`temporal ${args.join(' ')} works`, () => promisify(execFile)(program, [...args]).then(() => true as const))

const operator = (args: readonly string[]): Promise<true> => run(['operator', ...args, '--address', temporal().address])
