// The worker of the SDK, as a process of its own.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from '@jest/globals'
import { compileTo } from '../fixtures/compiled.js'
import { startListening } from '../fixtures/worker-process.js'
import { protocolSuite } from './protocol.js'

const SOURCES = [
  'src/core',
  'src/core/cron',
  'src/partitions/mapping',
  'src/events',
  'src/partitions',
  'src/api/contract',
  'src/sdk',
  'src/sdk/worker',
  'src/telemetry/tracing.ts',
]
const MAIN = 'test/fixtures/worker-child.ts'

let folder = ''
let main = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'servo-worker-'))
  const compiled = await compileTo(join(folder, 'servo'), [...SOURCES, MAIN, 'test/fixtures/conformance.ts'])
  main = compiled(MAIN)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const startProcess = (environment: Readonly<Record<string, string>>) => startListening(process.execPath, [main], environment)
protocolSuite('the worker in TypeScript', startProcess, { has_cancel_path: true })
protocolSuite('the worker in TypeScript, with callbacks together', startProcess, { has_cancel_path: true, takes_together: true })
