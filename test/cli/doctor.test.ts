// `servo doctor` on what is not there, and on an API and a store that are: what it finds, how it says to mend it.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { PARENT, QUEUE, startFakeCloudTasks } from '../faults/cloud-tasks/fake.js'
import { createSigner } from '../faults/cloud-tasks/signer.js'
import { type Commands, startCommands } from '../fixtures/api-commands.js'
import { type Finished, runServo } from '../fixtures/servo-process.js'

type Finding = { readonly check: string; readonly level: string; readonly found: string; readonly mend?: string }

let at: Commands
let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'servo-doctor-'))
  at = await startCommands()
})
afterAll(async () => {
  await at.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Nothing listens on the port of the discard protocol. */
const NOBODY = ['--temporal', '127.0.0.1:9']
const findings = ({ stdout }: Finished) =>
  new Map((JSON.parse(stdout) as { readonly findings: readonly Finding[] }).findings.map((finding) => [finding.check, finding]))

test('tells what answers and what does not, and how to mend it', async () => {
  const finished = await runServo(['doctor', '--store', `local:${folder}`, '--api', at.url, ...NOBODY, '--json'])
  expect(finished.code).toBe(1)
  const found = findings(finished)
  for (const check of ['node', 'api', 'api ready', 'api token', 'api clock', 'store', 'store clock', 'store rights']) {
    expect(found.get(check)).toMatchObject({ level: 'ok' })
  }
  expect(found.get('temporal')).toMatchObject({ level: 'fail', mend: expect.stringContaining('servo dev') })
  for (const { level, mend } of found.values()) expect(mend !== undefined).toBe(level !== 'ok')
})

test('fails where the API says that a turn is overdue, because no automation is at work', async () => {
  const detail = 'A turn was due at 2026-01-01T00:00:00.000Z, 420 s ago, and has not come.'
  const store = { name: 'store', ok: true, needed: true, detail: 'revision 3' }
  const api = await at.world.start({ readiness: async () => [store, { name: 'automation', ok: false, needed: false, detail }] })
  const found = findings(await runServo(['doctor', '--store', `local:${folder}`, '--api', api.listeningOrigin, ...NOBODY, '--json']))
  expect(found.get('api ready')).toMatchObject({ level: 'ok' })
  expect(found.get('automation')).toMatchObject({ level: 'fail', found: detail, mend: expect.stringContaining('servo automation') })
})

test('has a line for each check, and the way to mend it below', async () => {
  const nowhere = join(folder, 'nowhere')
  const finished = await runServo(['doctor', '--store', `local:${nowhere}`, '--api', 'http://127.0.0.1:9', ...NOBODY])
  expect(finished.code).toBe(1)
  expect(finished.stdout).toMatch(/^ok {4}node +Node \d+/m)
  expect(finished.stdout).toMatch(new RegExp(`^warn {2}store +${nowhere} is not there yet\n +The first write makes it`, 'm'))
  expect(finished.stdout).toMatch(/^fail {2}api +http:\/\/127\.0\.0\.1:9 does not answer: .*\n +Start it with `servo dev`/m)
  expect(finished.stderr).toMatch(/^\d+ checks: \d+ ok, \d+ to look at, 2 failed\.$/)
})

test('does not take another place for a store', async () => {
  const finished = await runServo(['doctor', '--store', 's3://bucket', '--api', at.url, ...NOBODY, '--json'])
  expect(findings(finished).get('store')).toMatchObject({ level: 'fail', found: expect.stringContaining('local:PATH') })
})

test('looks at the queue that attempts go through, where there is one', async () => {
  const fake = await startFakeCloudTasks({ now: Date.now, signer: await createSigner() })
  const settings = {
    SERVO_DISPATCH: 'cloud_tasks',
    SERVO_CLOUD_TASKS_PROJECT: PARENT.project,
    SERVO_CLOUD_TASKS_LOCATION: PARENT.location,
    SERVO_CLOUD_TASKS_QUEUE: PARENT.queue,
    SERVO_CLOUD_TASKS_ENDPOINT: fake.endpoint,
    SERVO_CLOUD_TASKS_SETTINGS: 'apply',
  }
  const look = async (more: Readonly<Record<string, string>>) => {
    const finished = await runServo(['doctor', '--store', `local:${folder}`, '--api', at.url, ...NOBODY, '--json'], {
      ...settings,
      ...more,
    })
    return findings(finished).get('queue')
  }
  try {
    const [differs, missing, misnamed] = await Promise.all([
      look({}),
      look({ SERVO_CLOUD_TASKS_QUEUE: 'other' }),
      look({ SERVO_CLOUD_TASKS_QUEUE: 'a_b' }),
    ])
    expect(differs).toMatchObject({
      level: 'warn',
      found: `${QUEUE}: retry_config.max_retry_duration is 0, and should be 3600. Change it, or set SERVO_CLOUD_TASKS_SETTINGS=apply.`,
    })
    expect(missing).toMatchObject({ level: 'fail', found: expect.stringContaining('answered NOT_FOUND') })
    expect(misnamed).toMatchObject({ level: 'fail', found: expect.stringContaining('SERVO_CLOUD_TASKS_QUEUE is "a_b"') })
    // It looks, and changes nothing, whatever the automation is told.
    expect(fake.calls.every(({ method }) => method === 'GetQueue')).toBe(true)
  } finally {
    await fake.stop()
  }
})
