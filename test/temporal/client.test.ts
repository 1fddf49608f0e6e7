// The client of Temporal in the processes: what becomes of calls to a server that is not there, or hangs.

import { createServer, type Socket } from 'node:net'
import { status } from '@grpc/grpc-js'
import { expect, test } from '@jest/globals'
import { openClient } from '../../src/bin/temporal.js'
import { grpcCode } from '../../src/bin/temporal-namespace.js'
import { startGrpcProxy } from '../faults/grpc-proxy.js'
import { freePort } from '../fixtures/free-port.js'
import { until } from '../fixtures/until.js'

const faultOf = (call: Promise<unknown>): Promise<status | undefined> =>
  call.then(
    () => status.OK,
    (error: unknown) => grpcCode(error),
  )

test('a call that waits for its next try fails when the client is closed, and throws nothing that nobody could catch', async () => {
  const proxy = await startGrpcProxy(undefined, () => undefined)
  const { connection, close } = openClient({ address: proxy.address, namespace: 'servo' })
  let note: (error: unknown) => void = () => undefined
  const uncaught = new Promise<string>((resolve) => {
    note = (error) => resolve(`it was thrown where nobody catches it: ${String(error)}`)
  })
  process.on('uncaughtException', note)
  try {
    const fault = faultOf(connection.workflowService.describeNamespace({ namespace: 'servo' }))
    await until('the second try was refused', () => proxy.calls.length >= 2)
    await close()
    expect(await Promise.race([fault, uncaught])).toBe(status.CANCELLED)
  } finally {
    process.removeListener('uncaughtException', note)
    await proxy.close()
  }
})

test('a call to a server that takes it and never answers ends', async () => {
  const sockets: Socket[] = []
  const server = createServer((socket) => void sockets.push(socket))
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const { connection, close } = openClient({ address: `127.0.0.1:${port}`, namespace: 'servo' })
  try {
    const code = await faultOf(connection.workflowService.describeNamespace({ namespace: 'servo' }))
    expect(code).toBe(status.DEADLINE_EXCEEDED)
  } finally {
    await close()
    for (const socket of sockets) socket.destroy()
    server.close()
  }
})
