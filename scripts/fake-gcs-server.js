// The fake of Google Cloud Storage that the tests run against: built from its Go module once a machine, into a cache
// outside the checkout. A build goes to a folder of its own and is moved into place when it is whole, so that two
// builds at once do no harm and an interrupted one leaves nothing that looks finished.

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { SetUpError } from './set-up.js'

export const FAKE_GCS_VERSION = 'v1.56.1'
const MODULE = 'github.com/fsouza/fake-gcs-server'
/** What its go.mod asks for. */
const GO_NEEDED = '1.25.8'
const PROGRAM = process.platform === 'win32' ? 'fake-gcs-server.exe' : 'fake-gcs-server'

/** The path of the program, built now if it is not there. */
export async function ensureFakeGcsServer(say = console.log) {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const folder = join(cache, 'servo', 'tools', 'fake-gcs-server', FAKE_GCS_VERSION, `${process.platform}-${process.arch}`)
  const program = join(folder, PROGRAM)
  if (existsSync(program)) return program
  mkdirSync(dirname(folder), { recursive: true })
  const building = mkdtempSync(`${folder}-building-`)
  try {
    const began = Date.now()
    say(`set-up: building fake-gcs-server ${FAKE_GCS_VERSION} from its Go module, once for this machine (about 3 minutes) …`)
    await goInstall(building)
    moveIntoPlace(building, folder)
    say(`set-up: fake-gcs-server built in ${Math.round((Date.now() - began) / 1000)} s`)
    return program
  } finally {
    rmSync(building, { recursive: true, force: true })
  }
}

async function goInstall(folder) {
  const asked = spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8' })
  if (asked.error !== undefined || asked.status !== 0) {
    throw new SetUpError(`Go was not found, and fake-gcs-server is built with it: install Go ${GO_NEEDED} or later from https://go.dev/dl.`)
  }
  const { code, output } = await run('go', ['install', `${MODULE}@${FAKE_GCS_VERSION}`], { ...process.env, GOBIN: folder })
  if (code === 0 && existsSync(join(folder, PROGRAM))) return
  const cure = /requires go >=|toolchain not available|invalid go version/.test(output)
    ? `Go is ${asked.stdout.trim().replace(/^go/, '')}, and ${GO_NEEDED} or later is needed: install it from https://go.dev/dl.`
    : 'It needs the Go module proxy once: look at what it says, and run it again.'
  throw new SetUpError(`fake-gcs-server ${FAKE_GCS_VERSION} could not be built. ${cure}\n${output.trim()}`)
}

function run(command, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const keep = (chunk) => {
      output = `${output}${chunk}`.slice(-8_000)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output }))
  })
}

// A folder that is there already is another build's, and as good.
function moveIntoPlace(building, folder) {
  try {
    renameSync(building, folder)
  } catch (error) {
    if (!existsSync(join(folder, PROGRAM))) throw error
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] || '').href) {
  ensureFakeGcsServer((line) => process.stderr.write(`${line}\n`)).then(
    (program) => process.stdout.write(`${program}\n`),
    (error) => {
      process.stderr.write(`${error instanceof SetUpError ? error.message : error.stack}\n`)
      process.exitCode = 1
    },
  )
}
