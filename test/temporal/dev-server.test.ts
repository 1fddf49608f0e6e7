// The Temporal dev server that tests and `servo dev` start: it is whole when it is there, and gone when it is stopped.

import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import { UsageError } from '../../src/cli/exit-code.js'
import { refuseMissingTemporal } from '../../src/cli/local/dev/temporal.js'
import { startDevServer } from '../../src/cli/local/temporal-server.js'
import { ALL_SEARCH_ATTRIBUTES, taskQueues, workflowId } from '../../src/core/names.js'
import { freePort } from '../fixtures/free-port.js'
import { withTemporal } from '../fixtures/temporal.js'
import { startOnFreePort, temporalProgram } from '../fixtures/temporal-program.js'

jest.setTimeout(120_000) // no wait: the bound of a test that starts a server

const temporal = withTemporal()
const folder = mkdtempSync(join(tmpdir(), 'servo-dev-server-'))
const log_file = join(folder, 'logs', 'temporal.log')
let program: string

beforeAll(async () => {
  program = await temporalProgram()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A program of that name which does what the shell lines say. */
function fakeProgram(name: string, lines: string): string {
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\n${lines}\n`)
  chmodSync(path, 0o755)
  return path
}

describe('a server that is there', () => {
  test('has the namespace with the search attributes, and takes a workflow that carries them', async () => {
    const { connection, namespace, client } = temporal()
    const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace })
    expect([namespace, namespaceInfo?.name]).toEqual(['servo', 'servo'])
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace })
    expect(customAttributes).toEqual(
      Object.fromEntries(Object.entries(ALL_SEARCH_ATTRIBUTES).map(([name, type]) => [name, { Keyword: 2, Datetime: 6 }[type]])),
    )
    const id = workflowId({ tenant_id: 'acme', workspace_id: 'prod' }, 'schedule', 'daily')
    await client.workflow.start('nobodyPolls', {
      workflowId: id,
      taskQueue: taskQueues({ tenant_id: 'acme', workspace_id: 'prod' }).loops,
      searchAttributes: { ServoKind: ['schedule'], ServoNextFireAt: [new Date(0)] },
    })
    const { searchAttributes } = await client.workflow.getHandle(id).describe()
    expect(searchAttributes).toMatchObject({ ServoKind: ['schedule'], ServoNextFireAt: [new Date(0)] })
  })
})

describe('a server that TEMPORAL_ADDRESS names', () => {
  const refused = async (address: string, environment: Readonly<Record<string, string>>) =>
    refuseMissingTemporal({ kind: 'address', address }, environment).then(
      () => 'nothing',
      (error: unknown) => (error instanceof UsageError ? error.message : error),
    )

  test('is taken where it answers and has the namespace', async () => {
    expect(await refused(temporal().address, {})).toBe('nothing')
  })

  test('is refused without the namespace, with what makes it and with the way out', async () => {
    const { address } = temporal()
    expect(await refused(address, { TEMPORAL_NAMESPACE: 'other' })).toBe(
      `TEMPORAL_ADDRESS names the Temporal server ${address}, and it has no namespace other.\nCreate what is missing: servo temporal set-up; or name another one: TEMPORAL_NAMESPACE. Or let \`servo dev\` start a server of its own: \`unset TEMPORAL_ADDRESS\`.`,
    )
  })
})

/** Run time-outs are timers of the server, and need no worker. */
async function timedOut({ client }: { readonly client: Client }, timeout_ms: number): Promise<void> {
  const id = `timer-${timeout_ms}-${randomUUID()}`
  const handle = await client.workflow.start('nobodyPolls', {
    workflowId: id,
    taskQueue: 'nobody',
    workflowRunTimeout: timeout_ms,
  })
  await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'TimeoutFailure' } })
}

// With the default each of them takes more than a second, because the one before it moved the server's mark that far.
test('timers of less than a second are not rounded up to one', async () => {
  const count = 20
  const began = performance.now()
  for (let i = 0; i < count; i++) await timedOut(temporal(), 50)
  const took_ms = performance.now() - began
  expect(took_ms).toBeGreaterThanOrEqual(count * 50)
  expect(took_ms).toBeLessThan((count * 1_000) / 2)
})

describe('starting and stopping', () => {
  test('stop ends the process, and frees its port for the next', async () => {
    const first = await startOnFreePort({ program, log_file, ui_port: await freePort() })
    expect(isAlive(first.pid)).toBe(true)
    expect((await fetch(first.ui_url as string)).ok).toBe(true)
    await Promise.all([first.stop(), first.stop()])
    expect(isAlive(first.pid)).toBe(false)
    const next = await startDevServer({ program, log_file, port: Number(first.address.split(':')[1]) })
    expect([next.ui_url, next.address]).toEqual([undefined, first.address])
    await next.stop()
    expect(isAlive(next.pid)).toBe(false)
  })

  test('a state file keeps workflows over a restart', async () => {
    const options = { program, log_file, db_file: join(folder, 'state.db') }
    const list = async (address: string, use: (client: Client) => Promise<unknown>): Promise<string[]> => {
      const connection = await Connection.connect({ address })
      try {
        const client = new Client({ connection, namespace: 'servo' })
        await use(client)
        const found = []
        for await (const { workflowId } of client.workflow.list()) found.push(workflowId)
        return found
      } finally {
        await connection.close()
      }
    }
    const first = await startOnFreePort(options)
    await list(first.address, (client) =>
      client.workflow.start('nobodyPolls', {
        workflowId: 'kept',
        taskQueue: taskQueues({ tenant_id: 'acme', workspace_id: 'prod' }).loops,
        searchAttributes: { ServoKind: ['kept'] },
      }),
    )
    await first.stop()
    const second = await startOnFreePort(options)
    const found = await list(second.address, async (client) => {
      const { status, searchAttributes } = await client.workflow.getHandle('kept').describe()
      expect([status.name, searchAttributes]).toEqual(['RUNNING', expect.objectContaining({ ServoKind: ['kept'] })])
    })
    await second.stop()
    expect(found).toEqual(['kept'])
  })
})

describe('what goes wrong is said', () => {
  test('a port that is not free, by its number and whose it was to be', async () => {
    const other = createServer()
    const port = await freePort()
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve))
    const said = `Port ${port} is not free for Temporal: another program listens there.`
    await expect(startDevServer({ program, port, log_file })).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining(said),
    })
    await expect(startDevServer({ program, port: await freePort(), ui_port: port, log_file })).rejects.toThrow(
      `Port ${port} is not free for Temporal's UI`,
    )
    await new Promise((resolve) => other.close(resolve))
  })

  test('a server that ends while it starts, with the last lines of its log and no line of another start', async () => {
    const failing = fakeProgram('failing', 'for i in $(seq 1 40); do echo "line $i"; done; echo "no such flag" >&2; exit 3')
    const log_of_both = join(folder, 'both.log')
    writeFileSync(log_of_both, 'an older start\n')
    const starting = startDevServer({ program: failing, port: await freePort(), log_file: log_of_both })
    const { message } = await starting.then(
      () => new Error('It started.'),
      (error: Error) => error,
    )
    expect(message).toMatch(/ended while it was starting: exit code 3\. The last lines of .*both\.log:\nline 27\n[^]*no such flag$/)
    expect(message).not.toContain('an older start')
    expect(readFileSync(log_of_both, 'utf8')).toContain('an older start\nline 1\n')
    const missing = join(folder, 'missing')
    await expect(startDevServer({ program: missing, port: await freePort(), log_file })).rejects.toThrow(/ENOENT.* It wrote nothing to/)
    expect(existsSync(missing)).toBe(false)
  })

  // One that cannot open its state is the likeliest of these.
  test('a state file that cannot be opened', async () => {
    const db_file = join(folder, 'nowhere', 'state.db')
    await expect(startDevServer({ program, port: await freePort(), log_file, db_file })).rejects.toThrow(
      /failed checking dir for database file/,
    )
  })
})
