// The worker in Python of examples/, as a process of its own: the protocol is nobody's language.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { startListening } from '../fixtures/worker-process.js'
import { protocolSuite } from './protocol.js'

const FOLDER = new URL('../../examples/python-worker/', import.meta.url)
const MAIN = fileURLToPath(new URL('conformance.py', FOLDER))

test('the worker in Python is one file that is read in one sitting, as the page about the protocol says', () => {
  const lines = readFileSync(new URL('worker.py', FOLDER), 'utf8').trimEnd().split('\n')
  expect(lines.length).toBeLessThan(170)
  expect(lines.filter((line) => line.length > 120 || line.includes(';'))).toEqual([])
})

if (spawnSync('python3', ['--version']).status === 0) {
  // Nothing that it compiles is left in the checkout.
  protocolSuite('the worker in Python', (environment) => startListening('python3', ['-B', MAIN], environment))
} else {
  test.skip('skipped: python3 was not found on this machine', () => undefined)
}
