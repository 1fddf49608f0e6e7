// What reads the tables without Servo, in versions that its pages name: installed once a machine, into a folder of its own.

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { SetUpError } from './set-up.js'
import { cachedTool, makeOnce, printProgram, sayOnStderr, secondsSince } from './tool-cache.js'

/** DuckDB's own command line, and pandas with what it reads Parquet with. */
export const PYTHON_PACKAGES = ['duckdb-cli==1.5.6', 'pandas==3.1.1', 'pyarrow==26.0.1']

/** The path of the list of what was installed; the packages lie beside it. */
export function ensurePythonPackages(say = console.log) {
  const python = spawnSync('python3', ['-c', 'import sys; print("py%d.%d" % sys.version_info[:2])'], { encoding: 'utf8' })
  if (python.status !== 0) throw new SetUpError('python3 was not found on this machine: install Python 3.11 or later.')
  const version = [python.stdout.trim(), ...PYTHON_PACKAGES.map((name) => name.replace('==', '-'))].join('_')
  const tool = cachedTool('python-packages', version)
  return makeOnce(tool, async (folder) => {
    const began = Date.now()
    say(`set-up: installing ${PYTHON_PACKAGES.join(', ')}, once for this machine …`)
    const args = ['-m', 'pip', 'install', '--quiet', '--no-compile', '--disable-pip-version-check', '--target', folder, ...PYTHON_PACKAGES]
    const { status, stderr } = spawnSync('python3', args, { encoding: 'utf8' })
    if (status !== 0) throw new SetUpError(`pip could not install ${PYTHON_PACKAGES.join(', ')}:\n${stderr}`)
    writeFileSync(join(folder, tool.file), `${PYTHON_PACKAGES.join('\n')}\n`)
    say(`set-up: installed in ${secondsSince(began)}`)
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] || '').href) {
  printProgram(Promise.resolve().then(() => ensurePythonPackages(sayOnStderr)))
}
