// The Temporal dev server as a child process: started with Servo's namespace and search attributes, there when it
// answers for them, ended by its id. It never outlives the process that started it, unless that one is killed outright.

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Connection } from '@temporalio/client'
import { lookAtNamespace } from '../../bin/temporal-namespace.js'
import { messageOf, unavailable } from '../../core/errors.js'
import { ALL_SEARCH_ATTRIBUTES, NAMESPACE_DEFAULT } from '../../core/names.js'

const HOST = '127.0.0.1'
/** A warm start takes two seconds; the rest is for a machine that is busy with something else. */
const START_TIMEOUT_MS = 60_000
/** Between two looks at a server that is starting. */
const LOOK_AGAIN_MS = 25
/** What a call may take while the server is up and has not made the namespace yet. */
const CALL_TIMEOUT_MS = 5_000
/** Longer than the server takes to finish what it is doing. */
const STOP_TIMEOUT_MS = 10_000
const LOG_LINES_SHOWN = 15

/** The limits of a shared cluster would throttle a thousand loops that are due in one second. One machine limits itself. And
 *  a cluster rounds a timer that is near up to a second from now, lest the clocks of its hosts differ: here is one clock. */
const DYNAMIC_CONFIG = {
  'frontend.rps': 20_000,
  'frontend.namespaceRPS': 20_000,
  'history.rps': 20_000,
  'matching.rps': 20_000,
  'matching.persistenceMaxQPS': 20_000,
  'history.timerProcessorMaxTimeShift': '100ms',
} as const

type DevServerOptions = {
  /** The `temporal` program. */
  readonly program: string
  readonly port: number
  /** Without one there is no UI. */
  readonly ui_port?: number
  /** Without one the state is in memory, and gone with the server. */
  readonly db_file?: string
  readonly namespace?: string
  readonly log_file: string
  /** Told before anything is waited for. */
  readonly onSpawn?: (pid: number | undefined) => void
  /** Ends the wait, and the server with it. */
  readonly signal?: AbortSignal
}

export type DevServer = {
  readonly address: string
  readonly ui_url: string | undefined
  readonly pid: number
  /** How the process ended, whoever ended it. */
  readonly ended: Promise<string>
  /** Resolves when the process has ended; a second call waits for the same end. */
  readonly stop: () => Promise<void>
}

/** Resolves when the server answers, and the namespace is there with its search attributes. */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  const { program, port, ui_port, namespace = NAMESPACE_DEFAULT, log_file } = options
  await assertFree(port, 'Temporal')
  if (ui_port !== undefined) await assertFree(ui_port, "Temporal's UI")
  const log_from = openedLog(log_file)
  const child = spawn(program, serverArguments(options), { stdio: ['ignore', log_from.fd, log_from.fd], detached: true })
  closeSync(log_from.fd)
  options.onSpawn?.(child.pid)
  const ended = endOf(child)
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  void ended.then(() => process.removeListener('exit', kill))

  const address = `${HOST}:${port}`
  const waiting = new AbortController()
  const stopWaiting = () => waiting.abort()
  options.signal?.addEventListener('abort', stopWaiting)
  try {
    options.signal?.throwIfAborted()
    const started = untilReady(address, namespace, waiting.signal)
    const early = ended.then((how) => {
      throw unavailable(`The Temporal server (${program}) ended while it was starting: ${how}.${lastLines(log_file, log_from.size)}`)
    })
    await Promise.race([started, early])
    options.signal?.throwIfAborted()
  } catch (error) {
    await endProcess(child, ended)
    throw error
  } finally {
    waiting.abort()
    options.signal?.removeEventListener('abort', stopWaiting)
  }
  return {
    address,
    ui_url: ui_port === undefined ? undefined : `http://${HOST}:${ui_port}`,
    pid: child.pid as number,
    ended,
    stop: () => endProcess(child, ended),
  }
}

function serverArguments({ port, ui_port, db_file, namespace = NAMESPACE_DEFAULT }: DevServerOptions): string[] {
  return [
    ...['server', 'start-dev', '--ip', HOST, '--port', String(port), '--namespace', namespace, '--log-level', 'warn'],
    ...(ui_port === undefined ? ['--headless'] : ['--ui-ip', HOST, '--ui-port', String(ui_port), '--ui-disable-news-fetch']),
    ...(db_file === undefined ? [] : ['--db-filename', db_file]),
    ...Object.entries(ALL_SEARCH_ATTRIBUTES).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
    ...Object.entries(DYNAMIC_CONFIG).flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${JSON.stringify(value)}`]),
  ]
}

// The server says this itself, in its log, and after seconds; and whoever listens there could be taken for it.
function assertFree(port: number, whose: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'another program listens there' : error.message
      reject(unavailable(`Port ${port} is not free for ${whose}: ${why}. Stop that program, or choose another port.`, error))
    })
    server.listen(port, HOST, () => server.close(() => resolve()))
  })
}

/** The log is appended to: what this server says begins at `size`. */
function openedLog(log_file: string): { readonly fd: number; readonly size: number } {
  mkdirSync(dirname(log_file), { recursive: true })
  const fd = openSync(log_file, 'a')
  return { fd, size: statSync(log_file).size }
}

function lastLines(log_file: string, size: number): string {
  const said = readFileSync(log_file).subarray(size).toString('utf8').trim()
  const lines = said.split('\n').slice(-LOG_LINES_SHOWN)
  return said === '' ? ` It wrote nothing to ${log_file}.` : ` The last lines of ${log_file}:\n${lines.join('\n')}`
}

const endOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve(messageOf(error)))
    child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : signal))
  })

async function endProcess(child: ChildProcess, ended: Promise<string>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  await ended
  clearTimeout(timer)
}

async function untilReady(address: string, namespace: string, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS
  let last = 'nothing listened there'
  while (!signal.aborted) {
    try {
      if (await listens(address)) {
        const missing = await whatIsMissing(address, namespace)
        if (missing === undefined) return
        last = missing
      }
    } catch (error) {
      last = messageOf(error)
    }
    if (performance.now() > deadline) {
      throw unavailable(`The Temporal server on ${address} was not ready after ${START_TIMEOUT_MS / 1_000} s: ${last}.`)
    }
    await sleep(LOOK_AGAIN_MS)
  }
}

// A gRPC channel that was refused waits a second before it tries again; a look at the port does not.
function listens(address: string): Promise<boolean> {
  const [host, port] = address.split(':')
  return new Promise((resolve) => {
    const socket = connect({ host: host as string, port: Number(port) })
    const answer = (is: boolean) => {
      socket.destroy()
      resolve(is)
    }
    socket.once('connect', () => answer(true))
    socket.once('error', () => answer(false))
  })
}

async function whatIsMissing(address: string, namespace: string): Promise<string | undefined> {
  const connection = await Connection.connect({ address, connectTimeout: CALL_TIMEOUT_MS })
  try {
    return await connection.withDeadline(Date.now() + CALL_TIMEOUT_MS, async () => {
      const { is_there, missing, mistyped } = await lookAtNamespace(connection, namespace)
      if (!is_there) return `it has no namespace ${namespace}`
      const lacking = [...missing, ...mistyped]
      return lacking.length === 0
        ? undefined
        : `the namespace ${namespace} lacks ${lacking.map(([name, type]) => `${name}=${type}`).join(', ')}`
    })
  } finally {
    await connection.close()
  }
}
