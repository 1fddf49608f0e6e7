// Brings a fresh clone to where everything runs, and does nothing where nothing is missing. Until the dependencies are
// there, only Node's own modules are; old versions of Node have to get as far as the sentence that names the new one.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const NODE_MIN = [20, 15]
/** From here on Go fetches the newer toolchain that a module asks for by itself. */
const GO_MIN = [1, 21]

export class SetUpError extends Error {
  constructor(message) {
    super(message)
    this.name = 'SetUpError'
  }
}

const PARTS = ['node', 'tools', 'dependencies', 'fake-gcs-server', 'temporal', 'compose-check', 'build']

/** `only` names the parts that the caller needs. */
export async function setUp({ say = console.log, only = PARTS } = {}) {
  if (only.includes('node') || only.includes('tools')) checkTools(only)
  if (only.includes('dependencies')) installDependencies(say)
  if (only.includes('fake-gcs-server')) {
    const { ensureFakeGcsServer } = await import('./fake-gcs-server.js')
    await ensureFakeGcsServer(say)
  }
  if (only.includes('temporal')) {
    const { ensureTemporal } = await import('./temporal.js')
    await ensureTemporal({ say })
  }
  if (only.includes('compose-check')) {
    const { ensureComposeCheck } = await import('./compose-check.js')
    await ensureComposeCheck(say)
  }
  if (only.includes('build')) await buildWhatIsStale(say)
}

// All that is missing in one message: nobody likes to install one thing to be told of the next.
function checkTools(only) {
  const faults = []
  if (!isAtLeast(process.versions.node, NODE_MIN)) {
    faults.push(`Node is ${process.versions.node}, and ${NODE_MIN.join('.')} or later is needed: install it from https://nodejs.org.`)
  }
  if (only.includes('tools')) faults.push(...missingTools())
  if (faults.length > 0) throw new SetUpError(faults.join('\n'))
}

function missingTools() {
  const faults = []
  if (versionOf('git', ['--version']) === undefined) {
    faults.push('git was not found: install it from https://git-scm.com, or with the package manager of this machine.')
  }
  const go = versionOf('go', ['version'])
  if (go === undefined) {
    faults.push(
      'Go was not found: install it from https://go.dev/dl. The tests run against a real fake-gcs-server and a real Temporal server, and both are built from source.',
    )
  } else if (!isAtLeast(go, GO_MIN)) {
    faults.push(
      `Go is ${go}, and ${GO_MIN.join('.')} or later is needed to build fake-gcs-server and the Temporal server: install it from https://go.dev/dl.`,
    )
  }
  return faults
}

function versionOf(command, args) {
  const answer = spawnSync(command, args, { encoding: 'utf8' })
  if (answer.status !== 0) return undefined
  return (/\d+(\.\d+)+/.exec(answer.stdout) || ['0'])[0]
}

function isAtLeast(version, minimum) {
  const parts = version.split('.').map(Number)
  for (let i = 0; i < minimum.length; i++) {
    if ((parts[i] || 0) !== minimum[i]) return (parts[i] || 0) > minimum[i]
  }
  return true
}

function installDependencies(say) {
  if (dependenciesAreThere()) return
  const began = Date.now()
  say('set-up: installing the dependencies (npm ci) …')
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: ROOT, encoding: 'utf8' })
  if (npm.status !== 0) {
    const said = npm.error ? npm.error.message : `${npm.stdout}${npm.stderr}`
    throw new SetUpError(`npm ci failed. It needs the npm registry: look at what it says, and run it again.\n${said.trim()}`)
  }
  say(`set-up: dependencies installed in ${seconds(began)}`)
}

// Compared by content: times say nothing after a clone or a change of branch. npm keeps what it installed in a lock file
// of its own; packages for other machines are optional, and missing here.
function dependenciesAreThere() {
  const wanted = readLock(`${ROOT}package-lock.json`)
  const installed = readLock(`${ROOT}node_modules/.package-lock.json`)
  if (wanted === undefined || installed === undefined) return false
  return Object.keys(wanted).every((path) => {
    const entry = wanted[path]
    return path === '' || entry.optional || (installed[path] !== undefined && installed[path].version === entry.version)
  })
}

function readLock(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages
  } catch {
    return undefined
  }
}

async function buildWhatIsStale(say) {
  const { buildState } = await import('./build-state.js')
  if (buildState() === 'current') return
  const began = Date.now()
  say('set-up: building dist/ …')
  const { build } = await import('./build.js')
  await build()
  say(`set-up: dist/ built in ${seconds(began)}`)
}

const seconds = (began) => `${((Date.now() - began) / 1000).toFixed(1)} s`

if (import.meta.url === pathToFileURL(process.argv[1] || '').href) {
  setUp().catch((error) => {
    process.stderr.write(`${error instanceof SetUpError ? error.message : error.stack}\n`)
    process.exitCode = 1
  })
}
