// A module that cannot be loaded is the same fault for every command that takes one: a sentence, and exit code 2. One that ends
// the process, or never finishes loading, is a sentence and exit code 1.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Finished, runServo } from '../fixtures/servo-process.js'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'servo-module-argument-'))
  writeFileSync(join(folder, 'broken.ts'), `throw new Error('no database')\n`)
  writeFileSync(join(folder, 'exits.ts'), 'process.exit(7)\n')
  writeFileSync(join(folder, 'ends-well.mjs'), 'setImmediate(() => process.exit())\nawait new Promise(() => undefined)\n')
  writeFileSync(join(folder, 'waits.ts'), 'await new Promise(() => undefined)\nexport {}\n')
  writeFileSync(join(folder, 'imports.mjs'), `import './waits.mjs'\n`)
  writeFileSync(join(folder, 'waits.mjs'), 'await new Promise(() => undefined)\n')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const COMMANDS = ['dev', 'worker', 'deploy']
const FAULTS: readonly (readonly [string, string])[] = [
  ['nofile.ts', 'nofile.ts was not found. Give the path of a module, such as ./module.ts.'],
  ['', ' is a folder. Give the path of a module in it'],
  ['broken.ts', 'broken.ts could not be loaded: no database'],
]

const NEVER_ENDS = 'could not be loaded: it awaits something at its top level that never comes'
const NEVER_LOADED: readonly (readonly [string, string])[] = [
  ['exits.ts', 'could not be loaded: its code ended the process with process.exit(7). Remove that call'],
  // Nobody may take it for a deploy that was made.
  ['ends-well.mjs', 'could not be loaded: its code ended the process with process.exit(0). Remove that call'],
  ['waits.ts', NEVER_ENDS],
  ['imports.mjs', NEVER_ENDS],
]

describe.each(COMMANDS)('servo %s', (command) => {
  test.each(FAULTS)(
    'says what is wrong with the module "%s"',
    async (name, sentence) => {
      const finished = await run(command, name)
      expect(finished).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) })
      expect(finished.stderr).not.toContain('--debug')
    },
    60_000,
  )

  test.each(NEVER_LOADED)(
    'says what the module "%s" does instead of being loaded',
    async (name, sentence) => {
      const finished = await run(command, name)
      expect(finished).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(`servo: ${join(folder, name)} ${sentence}`) })
      expect(finished.stderr).not.toContain('--debug')
    },
    60_000,
  )
})

/** Nothing is begun for a module that nobody can serve. */
async function run(command: string, name: string): Promise<Finished> {
  const data = join(folder, 'data')
  const finished = await runServo([command, join(folder, name), ...(command === 'dev' ? ['--data', data] : [])])
  expect(existsSync(data)).toBe(false)
  return finished
}
