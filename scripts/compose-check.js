// The program that reads temporal/docker-compose.yml as Docker does, and its settings as Temporal's server does: built
// from temporal/compose-check once a machine, and again when its sources change.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { cachedTool, makeOnce, printProgram, runGo, sayOnStderr, secondsSince } from './tool-cache.js'

const FOLDER = fileURLToPath(new URL('../temporal/compose-check', import.meta.url))
const SOURCES = ['go.mod', 'go.sum', 'main.go']
/** What its go.mod asks for. */
const GO_NEEDED = '1.26.4'

/** The path of the program, built now if it is not there. */
export function ensureComposeCheck(say = console.log) {
  const digest = createHash('sha256')
  for (const source of SOURCES) digest.update(readFileSync(join(FOLDER, source)))
  const tool = cachedTool('compose-check', digest.digest('hex').slice(0, 16))
  return makeOnce(tool, async (folder) => {
    const began = Date.now()
    say('set-up: building compose-check, which reads temporal/docker-compose.yml for a test, once for this machine (about 2 minutes) …')
    await runGo({
      args: ['build', '-mod=readonly', '-o', join(folder, tool.file), '.'],
      cwd: FOLDER,
      what: 'compose-check',
      go_needed: GO_NEEDED,
      env: { ...process.env, GOWORK: 'off' },
    })
    say(`set-up: compose-check built in ${secondsSince(began)}`)
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] || '').href) printProgram(ensureComposeCheck(sayOnStderr))
