// A module that cannot be loaded is the same fault for every command that takes one: a sentence, and exit code 2.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { runServo } from '../fixtures/servo-process.js'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'servo-module-argument-'))
  writeFileSync(join(folder, 'broken.ts'), `throw new Error('no database')\n`)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const COMMANDS = ['dev', 'worker', 'deploy']
const FAULTS: readonly (readonly [string, string])[] = [
  ['nofile.ts', 'nofile.ts was not found. Give the path of a module, such as ./module.ts.'],
  ['', ' is a folder. Give the path of a module in it'],
  ['broken.ts', 'broken.ts could not be loaded: no database'],
]

describe.each(COMMANDS)('servo %s', (command) => {
  test.each(FAULTS)(
    'says what is wrong with the module "%s"',
    async (name, sentence) => {
      const data = join(folder, 'data')
      const finished = await runServo([command, join(folder, name), ...(command === 'dev' ? ['--data', data] : [])])
      expect(finished).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) })
      expect(finished.stderr).not.toContain('--debug')
      // Nothing is begun for a module that nobody can serve.
      expect(existsSync(data)).toBe(false)
    },
    60_000,
  )
})
