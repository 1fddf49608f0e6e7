// The commands of `servo ledger`, `servo table` and `servo sql` on a bucket: the real client against a real fake-gcs-server. What each
// prints in every case is tested on a folder (ledger-cli.test.ts); here that nothing in them needs a folder.

import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type FakeGcs, startFakeGcs } from '../fixtures/fake-gcs.js'
import { TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'
import { type Finished, runServo, startServo } from '../fixtures/servo-process.js'
import { STEADY_EVENTS_PER_RUN } from '../fixtures/steady-runs.js'
import { deployLines, STORY_SCOPE, storyLines } from '../fixtures/story-file.js'

const TIMEOUT_MS = 120_000
/** The server may have to be built first. */
const SET_UP_TIMEOUT_MS = 600_000
const DEPLOY_EVENTS = 8
const EVENTS = DEPLOY_EVENTS + 2 * STEADY_EVENTS_PER_RUN

let server: FakeGcs
let folder = ''
let place: readonly string[] = []
const ledger = (command: string, ...args: readonly string[]): Promise<Finished> => runServo(['ledger', command, ...place, ...args])
const table = (...args: readonly string[]): Promise<Finished> => runServo(['table', ...place, ...args])
const append = (input: string, ...args: readonly string[]): Promise<Finished> =>
  runServo(['ledger', 'append', ...place, '--file', '-', ...args], {}, input)

function jsonOf(finished: Finished): unknown {
  expect({ code: finished.code, stderr: finished.code === 0 ? '' : finished.stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(finished.stdout)
}

beforeAll(async () => {
  server = await startFakeGcs()
  folder = await mkdtemp(join(tmpdir(), 'servo-cli-gcs-'))
  place = ['--store', `gs://${server.bucket}/some/prefix`, '--gcs-endpoint', server.endpoint, ...STORY_SCOPE]
}, SET_UP_TIMEOUT_MS)
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

test(
  'append answers appended, and duplicate for the same input',
  async () => {
    const file = join(folder, 'deploy.ndjson')
    await writeFile(file, deployLines())
    expect(await ledger('append', '--file', file)).toMatchObject({ code: 0, stderr: expect.stringContaining('8 events: 8 appended') })
    const again = (jsonOf(await ledger('append', '--file', file, '--json')) as { answers: { answer: string }[] }).answers
    expect(again.map(({ answer }) => answer)).toEqual(Array.from({ length: DEPLOY_EVENTS }, () => 'duplicate'))
    expect(await append(storyLines({ events: STEADY_EVENTS_PER_RUN, name: 'one' }))).toMatchObject({ code: 0 })
  },
  TIMEOUT_MS,
)

test(
  'tail shows what is there, and follows what comes',
  async () => {
    const shown = await ledger('tail', '--limit', '2')
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\S+ TaskStarted .*\n\S+ TaskFinished .*$/) })
    const following = startServo(['ledger', 'tail', ...place, '--follow', '--json', '--limit', '1'])
    await following.printed(1)
    expect(await append(storyLines({ events: STEADY_EVENTS_PER_RUN, name: 'two' }))).toMatchObject({ code: 0 })
    const lines = await following.printed(1 + STEADY_EVENTS_PER_RUN)
    following.stop('SIGTERM')
    expect(await following.finished).toMatchObject({ code: 0 })
    expect(JSON.parse(lines[1] as string)).toMatchObject({ event: { event_type: 'RunRequested' } })
  },
  TIMEOUT_MS,
)

test(
  'compact folds, merges and collects',
  async () => {
    expect(jsonOf(await ledger('compact', '--merge', '--collect', '--json'))).toMatchObject({
      sequence: 2,
      applied: EVENTS,
      refused: 0,
      merged: { kind: 'merged', sequence: 2 },
      collected: { deleted_count: 0 },
    })
    expect(await ledger('compact')).toMatchObject({ code: 0, stdout: expect.stringContaining('Revision 2: 0 applied') })
  },
  TIMEOUT_MS,
)

test(
  'table shows rows, now and as they were, from copies that may be kept',
  async () => {
    expect((await table('runs')).stdout.match(/SUCCEEDED/g)).toHaveLength(2)
    const cache = join(folder, 'cache')
    const where = ['--where', 'asset_key=raw.events', '--json', '--cache', cache]
    const rows = jsonOf(await table('tasks', ...where))
    expect(rows).toMatchObject([{ state: 'SUCCEEDED' }, { state: 'SUCCEEDED' }])
    expect(await readdir(cache)).toContainEqual(expect.stringMatching(/\.parquet$/))
    expect(jsonOf(await table('tasks', ...where, '--as-of', '1'))).toHaveLength(2)
  },
  TIMEOUT_MS,
)

test(
  'sql reads every table, now and as it was, and names the objects',
  async () => {
    const sql = (...args: readonly string[]): Promise<Finished> => runServo(['sql', ...place, ...args])
    const text = 'select r.state, count(*) as tasks from runs r join tasks t using (run_id) group by 1'
    expect(await sql(text)).toMatchObject({ code: 0, stdout: expect.stringMatching(/SUCCEEDED +│ 12 /) })
    expect(jsonOf(await sql(text, '--json', '--as-of', '1', '--cache', join(folder, 'cache')))).toEqual([{ state: 'SUCCEEDED', tasks: 12 }])
    const { tables } = jsonOf(await sql('--files', '--json')) as { tables: { files: { path: string }[] }[] }
    const paths = tables.flatMap(({ files }) => files.map(({ path }) => path))
    expect(paths.length).toBeGreaterThan(0)
    const objects = `gs://${server.bucket}/some/prefix/tenant=${TENANT_ID}/workspace=${WORKSPACE_ID}/state/orchestration/`
    expect(paths.filter((path) => !path.startsWith(objects))).toEqual([])
  },
  TIMEOUT_MS,
)

test(
  'verify, replay and stats say that all is well',
  async () => {
    // An append whose answer is late is made again, in the next minute by another name: both are facts, one is applied.
    const verified = jsonOf(await ledger('verify', '--json')) as { events: { ledger: number; duplicate: number } }
    const ledger_count = EVENTS + verified.events.duplicate
    expect(verified).toMatchObject({ problems: [], events: { ledger: ledger_count, applied: EVENTS, unfolded: 0 } })
    expect(jsonOf(await ledger('replay', '--json'))).toMatchObject({ equal: true, event_count: ledger_count, differences: [] })
    expect(await ledger('stats')).toMatchObject({ code: 0, stdout: expect.stringContaining(`${EVENTS} events applied; `) })
  },
  TIMEOUT_MS,
)

test(
  'a bucket that is not there: exit code 1, and what to do',
  async () => {
    const nowhere = ['--store', 'gs://no-such-bucket', '--gcs-endpoint', server.endpoint]
    const finished = await runServo(['ledger', 'tail', ...nowhere])
    expect(finished).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('Create it, or correct the name.') })
  },
  TIMEOUT_MS,
)
