// Where the Temporal server for a laptop and for tests comes from: the first of what is named, what is installed, what
// was made before, the official binary, and a build of the pinned Go module. What is made is made once for a machine.

import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { SetUpError } from './set-up.js'
import { cachedTool, makeOnce, printProgram, runGo, sayOnStderr, secondsSince } from './tool-cache.js'

/** Of the CLI: server 1.31.2 and UI 2.50.1. It is what temporal/dev-server/go.mod pins. */
export const TEMPORAL_VERSION = 'v1.8.2'
/** The first server with all that the loops use. */
const SERVER_MIN = [1, 29]
const PACKAGE = 'github.com/temporalio/cli/cmd/temporal'
const MODULE_FOLDER = fileURLToPath(new URL('../temporal/dev-server', import.meta.url))
/** What temporal/dev-server/go.mod asks for. */
const GO_NEEDED = '1.26.4'

const DOWNLOAD_ORIGIN = 'https://temporal.download'
const CONNECT_TIMEOUT_MS = 10_000
/** 60 MB, on a slow line. */
const DOWNLOAD_TIMEOUT_MS = 5 * 60_000
const SAID_AGAIN_AFTER_MS = 30_000

const PLATFORMS = { linux: 'linux', darwin: 'darwin', win32: 'windows' }
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' }

/** `{ kind: 'address', address }` of a server that runs already, or `{ kind: 'program', path }` of one to start. */
export async function findTemporal(options = {}) {
  const { env = process.env } = options
  if (env.TEMPORAL_ADDRESS) return { kind: 'address', address: env.TEMPORAL_ADDRESS }
  return { kind: 'program', path: await ensureTemporal(options) }
}

/** The path of a `temporal` program, whatever server runs already: tests start their own. */
export async function ensureTemporal({ env = process.env, say = console.log, said_again_after_ms = SAID_AGAIN_AFTER_MS } = {}) {
  if (env.SERVO_TEMPORAL_PROGRAM) return env.SERVO_TEMPORAL_PROGRAM
  const installed = installedProgram(env, say)
  if (installed !== undefined) return installed
  return makeOnce(cachedTool('temporal', TEMPORAL_VERSION, env), async (folder) => {
    if (!(await download(folder, env, say))) await build(folder, env, say, said_again_after_ms)
  })
}

function installedProgram(env, say) {
  const { file } = cachedTool('temporal', TEMPORAL_VERSION, env)
  const program = (env.PATH || '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, file))
    .find((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
  if (program === undefined) return undefined
  const server = serverVersion(program, env)
  if (server !== undefined && isAtLeast(server, SERVER_MIN)) return program
  say(
    `set-up: ${program} is left alone: its server is ${server ?? 'of no version that it says'}, and ${SERVER_MIN.join('.')} or later is needed.`,
  )
  return undefined
}

/** A build of one's own says `temporal version 0.0.0-DEV (Server 1.31.2, UI 2.50.1)`: only the server's part says something. */
function serverVersion(program, env) {
  const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', env })
  return status === 0 ? /\bServer (\d+\.\d+\.\d+)/.exec(stdout)?.[1] : undefined
}

function isAtLeast(version, [major, minor]) {
  const parts = version.split('.').map(Number)
  return parts[0] > major || (parts[0] === major && parts[1] >= minor)
}

/** Whether it is there now; anything that goes wrong is said in one line, and something else is tried. */
async function download(folder, env, say) {
  const platform = PLATFORMS[process.platform]
  const arch = ARCHITECTURES[process.arch]
  if (env.SERVO_TEMPORAL_DOWNLOAD === 'off' || platform === undefined || arch === undefined) return false
  const url = `${env.SERVO_TEMPORAL_DOWNLOAD || DOWNLOAD_ORIGIN}/cli/archive/${TEMPORAL_VERSION}?platform=${platform}&arch=${arch}`
  const { file } = cachedTool('temporal', TEMPORAL_VERSION, env)
  const archive = join(folder, 'archive')
  try {
    writeFileSync(archive, await fetchBytes(url))
    const tar = spawnSync('tar', ['-xf', archive, '-C', folder, file], { encoding: 'utf8', env })
    if (tar.status !== 0) throw new Error(tar.error?.message ?? `tar could not unpack it: ${tar.stderr.trim()}`)
    if (serverVersion(join(folder, file), env) === undefined) throw new Error('what came does not say the version of its server')
    say(`set-up: Temporal ${TEMPORAL_VERSION} downloaded from ${new URL(url).host}`)
    return true
  } catch (error) {
    rmSync(join(folder, file), { force: true })
    say(`set-up: Temporal ${TEMPORAL_VERSION} could not be downloaded (${reasonOf(error)}).`)
    return false
  } finally {
    rmSync(archive, { force: true })
  }
}

const reasonOf = (error) => String(error.cause?.message ?? error.message).split('\n')[0]

async function fetchBytes(url) {
  const controller = new AbortController()
  const giveUpAfter = (ms, what) => setTimeout(() => controller.abort(new Error(`${what} within ${ms / 1000} s`)), ms)
  let timer = giveUpAfter(CONNECT_TIMEOUT_MS, 'no answer')
  try {
    const answer = await fetch(url, { signal: controller.signal })
    clearTimeout(timer)
    if (!answer.ok) throw new Error(`the answer was ${answer.status}`)
    timer = giveUpAfter(DOWNLOAD_TIMEOUT_MS, 'not whole')
    return Buffer.from(await answer.arrayBuffer())
  } finally {
    clearTimeout(timer)
  }
}

async function build(folder, env, say, said_again_after_ms) {
  const began = Date.now()
  say('set-up: building the Temporal dev server once for this machine (about 5 minutes) …')
  const timer = setInterval(() => say(`set-up: still building the Temporal dev server, for ${secondsSince(began)} …`), said_again_after_ms)
  try {
    await runGo({
      args: buildArguments(folder, env),
      cwd: MODULE_FOLDER,
      what: `Temporal's dev server (CLI ${TEMPORAL_VERSION})`,
      go_needed: GO_NEEDED,
      // A workspace file in a folder above would take the place of the pinned versions.
      env: { ...env, GOWORK: 'off' },
    })
  } catch (error) {
    if (!(error instanceof SetUpError)) throw error
    const cure = 'Or install the Temporal CLI yourself (https://docs.temporal.io/cli), or name a server that runs with TEMPORAL_ADDRESS.'
    throw new SetUpError(`${error.message}\n${cure}`)
  } finally {
    clearInterval(timer)
  }
  say(`set-up: the Temporal dev server built in ${secondsSince(began)}`)
}

/** Read-only: a build never changes what go.mod and go.sum pin, whatever GOFLAGS says. */
export const buildArguments = (folder, env = process.env) => [
  'build',
  '-mod=readonly',
  '-o',
  join(folder, cachedTool('temporal', TEMPORAL_VERSION, env).file),
  PACKAGE,
]

if (import.meta.url === pathToFileURL(process.argv[1] || '').href) printProgram(ensureTemporal({ say: sayOnStderr }))
