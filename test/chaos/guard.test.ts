// What chaos has started ends with it, whatever it was doing: a process that was stopped does not hear a polite request.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from '@jest/globals'
import { until } from '../fixtures/until.js'
import { startGuard } from './guard.js'

const folder = mkdtempSync(join(tmpdir(), 'servo-guard-'))
const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

test('the guard ends what runs and what is stopped as soon as nobody holds it any more', async () => {
  const guard = startGuard(folder)
  for (const name of ['running', 'stopped']) {
    // A process that does nothing until it is ended: its interval keeps it alive.
    const child = spawn(process.execPath, ['--eval', 'setInterval(() => undefined, 1_000)'], { stdio: 'ignore', detached: true })
    children.push(child)
    guard.records.add(name, child.pid)
  }
  children[1]?.kill('SIGSTOP')
  await guard.release()
  await until('both are gone', () => children.every(({ signalCode }) => signalCode !== null))
  expect(children).toHaveLength(2)
})
