// `npm start`, tried as a new user would: it runs the quickstart, says what to look at, and goes on where it was.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from '@jest/globals'
import { freePorts, type Started, start, untilSaid } from '../fixtures/started.js'
import { until } from '../fixtures/until.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TIMEOUT_MS = 240_000
const DONE = 'Ctrl-C stops everything'

const folders: string[] = []
const running: Started[] = []
const folderOf = () => {
  const folder = mkdtempSync(join(tmpdir(), 'servo-start-'))
  folders.push(folder)
  return folder
}
const started = (...args: Parameters<typeof start>) => {
  const one = start(...args)
  running.push(one)
  return one
}

afterAll(async () => {
  for (const one of running) await one.interrupt()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}, TIMEOUT_MS)

const runId = (text: string) => /Run (run_[a-z2-7]+) SUCCEEDED/.exec(text)?.[1]

describe('npm start', () => {
  test(
    'materializes the quickstart, shows what to try, ends in order, and carries on',
    async () => {
      const data = folderOf()
      const ports = await freePorts()
      const first = started(data, ports)
      await untilSaid(first, DONE)
      expect(first.output()).toContain('+ shop.report')
      const report = readFileSync(join(data, 'quickstart', 'report.csv'), 'utf8')
      expect(report.trim().split('\n')).toHaveLength(6)
      expect((await fetch(`http://127.0.0.1:${ports.ui}`)).status).toBe(200)

      // Every command that it shows does what it says.
      const commands = [...first.output().matchAll(/^ {2}npx (servo .*)$/gm)].map(([, command]) => command as string)
      expect(commands).toHaveLength(4)
      for (const command of commands) {
        const said = spawnSync('npx', command.split(' '), {
          cwd: ROOT,
          encoding: 'utf8',
          env: { PATH: process.env['PATH'], HOME: process.env['HOME'], SERVO_API: first.api_url },
        })
        expect([command, said.status, said.stdout.length > 0]).toEqual([command, 0, true])
        if (command.includes('schedule ticks')) expect(said.stdout).toMatch(/TRIGGERED .* CRON .* run_[a-z2-7]{26} [A-Z]+/)
      }

      expect(await first.interrupt()).toBe(0)
      await until('its ports are free', () =>
        fetch(`${first.api_url}/healthz`).then(
          () => false,
          () => true,
        ),
      )

      const second = started(data, ports)
      await untilSaid(second, DONE)
      expect(second.output()).toContain('Nothing to deploy')
      expect(runId(second.output())).toBe(runId(first.output()))
    },
    TIMEOUT_MS,
  )

  test(
    'names a port that is taken, and the flag that changes it',
    async () => {
      const ports = await freePorts()
      const taken = createServer().listen(ports.worker, '127.0.0.1')
      const one = started(folderOf(), ports)
      expect(await one.ended).toBe(1)
      expect(one.output()).toContain(
        `Port ${ports.worker}, for the worker, is taken by another program: give another one with --worker-port.`,
      )
      taken.close()
    },
    TIMEOUT_MS,
  )

  test(
    'runs twice side by side, and not twice on one folder',
    async () => {
      const data = folderOf()
      const one = started(data, await freePorts())
      await untilSaid(one, 'Servo is up.')
      const same = started(data, await freePorts())
      expect(await same.ended).toBe(1)
      expect(same.output()).toContain('runs already on')
      const other = started(folderOf(), await freePorts())
      await Promise.all([untilSaid(one, DONE), untilSaid(other, DONE)])
      expect(runId(other.output())).not.toBe(runId(one.output()))
    },
    TIMEOUT_MS,
  )
})
