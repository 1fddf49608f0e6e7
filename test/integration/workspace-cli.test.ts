// `servo workspace` as somebody types it: from a folder to a bucket, from there to another folder, and from a bucket to a
// bucket by way of a folder. The real client against a real fake-gcs-server, real processes, Parquet files.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type FakeGcs, startFakeGcs } from '../fixtures/fake-gcs.js'
import { type Finished, runServo, startServo } from '../fixtures/servo-process.js'
import { type ServoShell, startServoShell } from '../fixtures/servo-shell.js'
import { STEADY_EVENTS_PER_RUN } from '../fixtures/steady-runs.js'
import { deployLines, STORY_SCOPE, storyLines } from '../fixtures/story-file.js'

const TIMEOUT_MS = 120_000
/** The server may have to be built first. */
const SET_UP_TIMEOUT_MS = 600_000
const DEPLOY_EVENTS = 8

let server: FakeGcs
let folder = ''
let shell: ServoShell
const local = (name: string): string => `local:${join(folder, name)}`
const bucket = (name: string): string => `gs://${server.bucket}/${name}`
const place = (): readonly string[] => ['--gcs-endpoint', server.endpoint, ...STORY_SCOPE]
const servo = (...args: readonly string[]): Promise<Finished> => shell.run([...args, ...place()])
const servoSaying = (input: string, ...args: readonly string[]): Promise<Finished> => runServo([...args, ...place()], {}, input)

async function jsonOf<T>(work: Promise<Finished>): Promise<T> {
  const { code, stdout, stderr } = await work
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as T
}

type Told = {
  readonly backup: string
  readonly sequence: number
  readonly copied_count: number
  readonly present_count: number
  readonly branch: string | null
}

beforeAll(async () => {
  server = await startFakeGcs()
  shell = startServoShell()
  folder = await mkdtemp(join(tmpdir(), 'servo-workspace-cli-'))
}, SET_UP_TIMEOUT_MS)
afterAll(async () => {
  await shell.close()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Folded runs, one merge, and a tail that is not folded. */
async function fill(store: string): Promise<number> {
  await servoSaying(deployLines(), 'ledger', 'append', '--store', store, '--file', '-')
  await servoSaying(storyLines({ events: STEADY_EVENTS_PER_RUN, name: 'one' }), 'ledger', 'append', '--store', store, '--file', '-')
  expect(await servo('ledger', 'compact', '--merge', '--store', store)).toMatchObject({ code: 0 })
  await servoSaying(storyLines({ events: STEADY_EVENTS_PER_RUN, name: 'two' }), 'ledger', 'append', '--store', store, '--file', '-')
  return DEPLOY_EVENTS + 2 * STEADY_EVENTS_PER_RUN
}

async function expectSame(store: string, other: string): Promise<void> {
  for (const table of ['tasks', 'idempotency_keys']) {
    const [left, right] = await Promise.all([store, other].map((place) => servo('table', table, '--store', place, '--json')))
    expect(left).toMatchObject({ code: 0 })
    expect(right?.stdout).toBe(left?.stdout)
  }
}

async function expectGood(store: string, events: number): Promise<void> {
  expect(await jsonOf(servo('ledger', 'verify', '--store', store, '--json'))).toMatchObject({
    problems: [],
    events: { ledger: events, unfolded: 0 },
  })
  expect(await jsonOf(servo('ledger', 'replay', '--store', store, '--json'))).toMatchObject({ equal: true, event_count: events })
}

describe.each([
  { from: () => local('store'), by: () => bucket('backups'), to: () => local('restored') },
  { from: () => bucket('store'), by: () => local('backups'), to: () => bucket('restored') },
])('a workspace', ({ from, by, to }) => {
  test(
    'is backed up, restored, and goes on',
    async () => {
      const events = await fill(from())
      const first = await jsonOf<Told>(servo('workspace', 'backup', '--store', from(), '--to', by(), '--verify', '--json'))
      expect(first).toMatchObject({ sequence: 2, present_count: 0, problems: [] })
      const again = await jsonOf<Told>(servo('workspace', 'backup', '--store', from(), '--to', by(), '--json'))
      expect(again).toMatchObject({ sequence: 2, copied_count: 0, present_count: first.copied_count })
      const listed = await jsonOf<Told[]>(servo('workspace', 'backups', '--from', by(), '--json'))
      expect(listed.map(({ backup }) => backup)).toEqual([first.backup, again.backup])

      const restored = await servo('workspace', 'restore', '--from', by(), '--store', to())
      expect(restored).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`${events} events, ${STEADY_EVENTS_PER_RUN} of them not folded yet`),
      })
      expect(restored.stderr).toContain('state/orchestration/')
      await expectSame(from(), to())
      for (const store of [from(), to()]) expect(await servo('ledger', 'compact', '--store', store)).toMatchObject({ code: 0 })
      await expectGood(to(), events)
      await servoSaying(storyLines({ events: STEADY_EVENTS_PER_RUN, name: 'three' }), 'ledger', 'append', '--store', to(), '--file', '-')
      expect(await servo('ledger', 'compact', '--merge', '--collect', '--store', to())).toMatchObject({ code: 0 })
      await expectGood(to(), events + STEADY_EVENTS_PER_RUN)

      const onBranch = await jsonOf<Told>(servo('workspace', 'backup', '--store', to(), '--to', by(), '--verify', '--json'))
      expect(onBranch).toMatchObject({ restored_backup: again.backup, problems: [] })
      const shown = await servo('workspace', 'backups', '--from', by())
      expect(shown.stdout.split('\n').filter((line) => line.includes(onBranch.branch ?? 'none'))).toEqual([
        expect.stringMatching(new RegExp(`${onBranch.backup}.*${again.backup}`)),
      ])
    },
    2 * TIMEOUT_MS,
  )

  test(
    'that was killed while it was copied is copied again, and only what is missing',
    async () => {
      const backups = `${by()}-killed`
      const killed = startServo(['workspace', 'backup', '--store', from(), '--to', backups, ...place()])
      killed.stop('SIGKILL')
      await killed.finished
      expect(await servo('workspace', 'backup', '--store', from(), '--to', backups)).toMatchObject({ code: 0 })
      expect(await servo('workspace', 'restore', '--from', backups, '--store', `${to()}-again`)).toMatchObject({ code: 0 })
      await expectSame(from(), `${to()}-again`)
    },
    TIMEOUT_MS,
  )
})

test(
  'what cannot be done is said with what to do, and the exit code',
  async () => {
    const store = local('store')
    const refused = (...args: readonly string[]) => servo('workspace', ...args)
    expect(await refused('backup', '--store', store, '--to', store)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('named twice'),
    })
    expect(await refused('restore', '--from', local('nowhere'), '--store', local('new'))).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('so there is nothing to read'),
    })
    expect(await refused('restore', '--from', local('backups'), '--store', store)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not empty'),
    })
    const other = ['workspace', 'restore', '--from', local('backups'), '--store', local('new'), '--tenant', 'other', '--workspace', 'other']
    expect(await shell.run(other)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('restored under the names that it was taken of'),
    })
    expect(await refused('backups', '--from', local('restored'))).toMatchObject({ code: 0, stderr: expect.stringContaining('no backup') })
    expect(await servo('ledger', 'compact', '--store', local('backups'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('holds backups'),
    })
  },
  TIMEOUT_MS,
)
