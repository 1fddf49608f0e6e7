// The worker in Python of examples/, as a process of its own: the protocol is nobody's language.

import { test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { startListening } from '../fixtures/worker-process.js'
import { protocolSuite } from './protocol.js'

const MAIN = fileURLToPath(new URL('../../examples/python-worker/conformance.py', import.meta.url))

if (spawnSync('python3', ['--version']).status === 0) {
  // Nothing that it compiles is left in the checkout.
  protocolSuite('the worker in Python', (environment) => startListening('python3', ['-B', MAIN], environment))
} else {
  test.skip('skipped: python3 was not found on this machine', () => undefined)
}
