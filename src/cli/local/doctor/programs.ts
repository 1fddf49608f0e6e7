// Programs that a build of the Temporal server needs. Where the server is named or there, nobody misses them.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Environment } from '../../../bin/config.js'
import { type Finding, ok, warn } from './finding.js'

const BUILD_MODULE = fileURLToPath(new URL('../../../../temporal/dev-server/go.mod', import.meta.url))

export function checkPrograms(environment: Environment): readonly Finding[] {
  const why = whyNoBuild(environment)
  return [
    checkProgram('git', ['--version'], /git version (\S+)/, why, 'Install git: it tells which commit is deployed, and gets updates.'),
    checkProgram(
      'go',
      ['version'],
      /go(\d\S*)/,
      why,
      'Install Go (https://go.dev/dl), put a `temporal` program on the PATH, or set TEMPORAL_ADDRESS to a server that runs.',
    ),
  ]
}

/** Why no server has to be built here. */
function whyNoBuild({ TEMPORAL_ADDRESS, SERVO_TEMPORAL_PROGRAM, PATH = '' }: Environment): string | undefined {
  if (TEMPORAL_ADDRESS) return 'TEMPORAL_ADDRESS names a server'
  if (SERVO_TEMPORAL_PROGRAM) return 'SERVO_TEMPORAL_PROGRAM names one'
  if (PATH.split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, 'temporal')))) return '`temporal` is on the PATH'
  return existsSync(BUILD_MODULE) ? undefined : 'this is no checkout'
}

function checkProgram(name: string, args: readonly string[], version: RegExp, why: string | undefined, mend: string): Finding {
  const { status, stdout } = spawnSync(name, [...args], { encoding: 'utf8' })
  if (status === 0) return ok(name, `${name} ${version.exec(stdout)?.[1] ?? ''}`.trim())
  if (why !== undefined) return ok(name, `${name} is not installed, and not needed: ${why}`)
  return warn(name, `${name} is not installed: a Temporal server that is not there yet could not be built`, mend)
}
