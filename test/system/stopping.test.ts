// However `servo dev` ends, nothing that it has started is left: by Ctrl-C, once, twice and too early, by a terminal that is
// closed, and by SIGKILL.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type DevProcess, startDevProcess, untilGone } from '../fixtures/dev-process.js'
import { freePorts, type Ports } from '../fixtures/started.js'
import { until } from '../fixtures/until.js'

const TIMEOUT_MS = 240_000
const UP = 'Servo is up.'

const folder = mkdtempSync(join(tmpdir(), 'servo-stopping-'))
const running: DevProcess[] = []
let data: string
let ports: Ports
let count = 0

beforeEach(async () => {
  count += 1
  data = join(folder, `data-${count}`)
  ports = await freePorts()
})
afterAll(async () => {
  for (const one of running) one.signalGroup('SIGKILL')
  for (const one of running) await one.ended
  rmSync(folder, { recursive: true, force: true })
}, TIMEOUT_MS)

const started = (...command: readonly ['npm', ...string[]] | readonly ['servo', ...string[]]): DevProcess => {
  const one = startDevProcess({ command, data, ports })
  running.push(one)
  return one
}
const lockIsFree = () => !existsSync(join(data, 'dev.pid'))

describe('a signal to the whole group', () => {
  // npm passes it on to those who have it already: it must not count as a second one.
  test.each(['SIGINT', 'SIGHUP'] as const)(
    'npm start ends in order with %s',
    async (signal) => {
      const one = started('npm', 'start', '--')
      await one.said('Ctrl-C stops everything')
      const children = one.children()
      expect([...children.keys()].sort()).toEqual(['api', 'automation', 'guard', 'temporal', 'worker'])
      one.signalGroup(signal)
      await one.ended
      await until('its lock is free', lockIsFree)
      await untilGone(children)
      expect(one.children().size).toBe(0)
      expect(one.output()).not.toContain('Stopping at once')
    },
    TIMEOUT_MS,
  )

  test(
    'Ctrl-C before it is up',
    async () => {
      const one = started('servo', 'dev')
      const children = await until('Temporal is started', () => {
        const found = one.children()
        return found.has('temporal') ? found : undefined
      })
      one.signalGroup('SIGINT')
      expect(await one.ended).toBe(0)
      await untilGone(children)
      expect(one.output()).not.toContain(UP)
      expect(one.output()).toContain('Stopping:')
      expect(lockIsFree()).toBe(true)
    },
    TIMEOUT_MS,
  )

  test(
    'Ctrl-C again and again, while something does not end',
    async () => {
      const one = started('servo', 'dev')
      await one.said(UP)
      const children = one.children()
      // It hears of nothing but SIGKILL.
      process.kill(children.get('api')?.pid as number, 'SIGSTOP')
      await until('it ends at the second press', () => {
        one.signalGroup('SIGINT')
        return one.hasEnded()
      })
      expect(await one.ended).toBe(130)
      expect(one.output()).toContain('Stopping at once')
      await untilGone(children)
      expect(lockIsFree()).toBe(true)
    },
    TIMEOUT_MS,
  )
})

describe('SIGKILL', () => {
  test(
    'of servo dev leaves nothing, and the next start waits for what still ends',
    async () => {
      const one = started('servo', 'dev')
      await one.said(UP)
      const children = one.children()
      process.kill(one.pid, 'SIGKILL')
      const next = started('servo', 'dev')
      await next.said(UP)
      await untilGone(children)

      // The guard too: then nobody is left to end anything, but the next start.
      const second = next.children()
      process.kill(next.pid, 'SIGSTOP')
      process.kill(second.get('guard')?.pid as number, 'SIGKILL')
      process.kill(next.pid, 'SIGKILL')
      await next.ended
      const last = started('servo', 'dev')
      await last.said(UP)
      expect(last.output()).toContain('The temporal of an earlier run is still there')
      await untilGone(second)
      // The loops are hardly up, and end as soon as they would later.
      last.signalGroup('SIGTERM')
      await until('it has ended', last.hasEnded, 20_000)
      expect(await last.ended).toBe(0)
    },
    TIMEOUT_MS,
  )

  test(
    'of npm ends what npm has started',
    async () => {
      const one = started('npm', 'start', '--')
      await one.said(UP)
      const children = one.children()
      process.kill(one.pid, 'SIGKILL')
      await untilGone(children)
      await until('its lock is free', lockIsFree)
    },
    TIMEOUT_MS,
  )
})
