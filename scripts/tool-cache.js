// Programs that are made once for a machine and kept in a cache outside the checkout, keyed by version. Each is made in
// a folder of its own and moved into place when it is whole, so that two who make it at once do no harm and an
// interrupted one leaves nothing that looks finished.

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { SetUpError } from './set-up.js'

export function cachedTool(name, version, env = process.env) {
  const cache = env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const folder = join(cache, 'servo', 'tools', name, version, `${process.platform}-${process.arch}`)
  const file = process.platform === 'win32' ? `${name}.exe` : name
  return { folder, file, program: join(folder, file) }
}

/** `make` puts the program into the folder that it is given, under the name `tool.file`. Answers the program's path. */
export async function makeOnce(tool, make) {
  if (existsSync(tool.program)) return tool.program
  mkdirSync(dirname(tool.folder), { recursive: true })
  const making = mkdtempSync(`${tool.folder}-making-`)
  try {
    await make(making)
    if (!existsSync(join(making, tool.file))) throw new SetUpError(`${tool.file} was made without an error, and is not there.`)
    moveIntoPlace(making, tool)
    return tool.program
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
}

// A folder that is there already is another one's, and as good.
function moveIntoPlace(making, { folder, program }) {
  try {
    renameSync(making, folder)
  } catch (error) {
    if (!existsSync(program)) throw error
  }
}

/** `go` with these arguments; `what` is built with it, from `go_needed` on. */
export async function runGo({ args, what, go_needed, cwd, env = process.env }) {
  const asked = spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8', env })
  if (asked.error !== undefined || asked.status !== 0) {
    throw new SetUpError(`Go was not found, and ${what} is built with it: install Go ${go_needed} or later from https://go.dev/dl.`)
  }
  const { code, output } = await runProcess('go', args, { cwd, env })
  if (code === 0) return
  const cure = /requires go >=|toolchain not available|invalid go version/.test(output)
    ? `Go is ${asked.stdout.trim().replace(/^go/, '')}, and ${go_needed} or later is needed: install it from https://go.dev/dl.`
    : 'It needs the Go module proxy once: look at what it says, and run it again.'
  throw new SetUpError(`${what} could not be built. ${cure}\n${output.trim()}`)
}

function runProcess(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
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

/** For a script that was started by its name: prints the program's path, says all else on stderr. */
export function printProgram(promise) {
  promise.then(
    (program) => process.stdout.write(`${program}\n`),
    (error) => {
      process.stderr.write(`${error instanceof SetUpError ? error.message : error.stack}\n`)
      process.exitCode = 1
    },
  )
}

export const sayOnStderr = (line) => process.stderr.write(`${line}\n`)

export const secondsSince = (began) => `${Math.round((Date.now() - began) / 1000)} s`
