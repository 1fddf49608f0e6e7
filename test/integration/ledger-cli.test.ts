// Every command of `servo ledger` and `servo table` as a new user types it, on a folder: what it prints for people and
// for programs, its exit code, and that it says what to do. The same commands on a bucket: ledger-cli-gcs.test.ts.

/* eslint-disable max-lines -- one story of one program: its parts share stores that take seconds to fill */

import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Deps, openDeps, openReader } from '../../src/bin/deps.js'
import { publish } from '../../src/compactor/publish.js'
import { instantMs } from '../../src/core/time.js'
import { newUlid } from '../../src/core/ulid.js'
import { EVENT_TYPES } from '../../src/events/event.js'
import { segmentObjectName } from '../../src/ledger/segment.js'
import { type LooseRow, rowsByKey } from '../../src/projections/tables.js'
import { NO_NAMES } from '../../src/tables/folded-names.js'
import { readPointer } from '../../src/tables/snapshot.js'
import { writeOldLedger } from '../fixtures/old-ledger.js'
import { NOW, TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'
import { type Finished, runServo, startServo } from '../fixtures/servo-process.js'
import { type ServoShell, startServoShell } from '../fixtures/servo-shell.js'
import { STEADY_EVENTS_PER_RUN } from '../fixtures/steady-runs.js'
import { deployLines, STORY_SCOPE, storyLines } from '../fixtures/story-file.js'
import { until } from '../fixtures/until.js'

const TIMEOUT_MS = 120_000
const DEPLOY_EVENTS = 8
/** Nothing listens on the port of the discard protocol: the connection is refused at once. */
const NOWHERE = ['--store', 'gs://nobody-is-there/prefix', '--gcs-endpoint', 'http://127.0.0.1:9', '--json']

let folder = ''
let shell: ServoShell
let place: readonly string[] = []
const servo = (...args: readonly string[]): Promise<Finished> => shell.run(args)
const ledger = (command: string, ...args: readonly string[]): Promise<Finished> => servo('ledger', command, ...place, ...args)
const table = (...args: readonly string[]): Promise<Finished> => servo('table', ...place, ...args)
const at = (store: string): readonly string[] => ['--store', `local:${store}`, ...STORY_SCOPE]
const append = (input: string, ...args: readonly string[]): Promise<Finished> =>
  runServo(['ledger', 'append', ...place, '--file', '-', ...args], {}, input)
const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '')

/** The one value on stdout, of a command that ended with this code. */
function jsonOf<T>(finished: Finished, code = 0): T {
  expect({ code: finished.code, stderr: finished.code === code ? '' : finished.stderr }).toEqual({ code, stderr: '' })
  expect(linesOf(finished.stdout)).toHaveLength(1)
  return JSON.parse(finished.stdout) as T
}

type Appended = {
  readonly appended_count: number
  readonly answers: readonly Answer[]
  readonly faults: readonly { readonly line: number; readonly problem: string }[]
}
type Answer = { readonly line: number; readonly event_id: string; readonly answer: string; readonly segment: string }
type Verified = {
  readonly sequence: number
  readonly problems: readonly string[]
  readonly events: Readonly<Record<'ledger' | 'applied' | 'duplicate' | 'refused' | 'quarantined' | 'unfolded', number>>
}
type Replayed = {
  readonly equal: boolean
  readonly event_count: number
  readonly row_count: number
  readonly differences: readonly { readonly table: string; readonly key: readonly string[]; readonly columns: readonly string[] }[]
}
type Row = Readonly<Record<string, unknown>>

async function withStore<T>(store: string, run: (deps: Deps) => Promise<T>): Promise<T> {
  const deps = await openDeps({ store: `local:${store}`, tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID })
  try {
    return await run(deps)
  } finally {
    await deps.close()
  }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servo-cli-'))
  place = at(join(folder, 'store'))
  shell = startServoShell()
})
afterAll(async () => {
  await shell.close()
  await rm(folder, { recursive: true, force: true })
})

describe('servo ledger example', () => {
  const examples = new Map<string, string>()

  test(
    'prints an event of every type on one line',
    async () => {
      const waiting = [...EVENT_TYPES]
      const printSome = async (): Promise<void> => {
        for (let event_type = waiting.shift(); event_type !== undefined; event_type = waiting.shift()) {
          examples.set(event_type, (await servo('ledger', 'example', event_type)).stdout)
        }
      }
      await Promise.all([printSome(), printSome()])
      for (const [event_type, text] of examples) expect(JSON.parse(text)).toMatchObject({ event_type, workspace_id: 'default' })
      expect([...examples.keys()].sort()).toEqual([...EVENT_TYPES].sort())
    },
    TIMEOUT_MS,
  )

  test(
    'prints what can be appended as it is, and edited',
    async () => {
      const store = ['--store', `local:${join(folder, 'examples')}`]
      const file = join(folder, 'examples.ndjson')
      const pool = JSON.parse(examples.get('PoolDefined') as string) as { readonly payload: object }
      const edited = {
        ...pool,
        idempotency_key: 'pool_def:pool:mine:one',
        payload: { ...pool.payload, pool_key: 'pool:mine', max_running: 2 },
      }
      await writeFile(file, [...examples.values(), JSON.stringify(edited)].join('\n'))
      const answers = jsonOf<Appended>(await servo('ledger', 'append', '--file', file, '--json', ...store)).answers
      expect(answers.map(({ answer }) => answer)).toEqual(Array.from({ length: EVENT_TYPES.length + 1 }, () => 'appended'))
      expect(await servo('ledger', 'compact', ...store)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(', 0 quarantined in'),
      })
      const rows = jsonOf<Row[]>(await servo('table', 'pools', '--where', 'pool_key=pool:mine', '--json', ...store))
      expect(rows).toEqual([expect.objectContaining({ pool_key: 'pool:mine', max_running: 2 })])
    },
    TIMEOUT_MS,
  )

  test(
    'says the same to programs, and for the workspace that was asked for',
    async () => {
      const event = jsonOf<Row>(await servo('ledger', 'example', 'PoolDefined', '--json', ...STORY_SCOPE))
      expect(event).toEqual({ ...JSON.parse(examples.get('PoolDefined') as string), tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID })
      const unknown = await servo('ledger', 'example', 'PoolDefine')
      expect(unknown).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('PoolDefine is no event of this version.') })
      expect(unknown.stderr).toContain('PoolDefined, PoolRemoved')
    },
    TIMEOUT_MS,
  )
})

describe('servo ledger append', () => {
  test(
    'takes a file, answers each event, and says duplicate when it is given again',
    async () => {
      const file = join(folder, 'deploy.ndjson')
      await writeFile(file, deployLines())
      // Given again in the next minute it is a duplicate, too, and leaves a copy that the fold takes for one: the counts
      // below are those of one minute.
      await until('the minute is young', () => new Date().getUTCSeconds() < 45)
      const first = await ledger('append', '--file', file)
      expect(first.code).toBe(0)
      expect(linesOf(first.stdout)).toHaveLength(DEPLOY_EVENTS)
      for (const line of linesOf(first.stdout)) expect(line).toMatch(/^appended [0-9A-Z]{26} \S+$/)
      expect(first.stderr).toContain('8 events: 8 appended, 0 durable already.')
      const repeated = await ledger('append', '--file', file, '--json')
      expect(repeated.stderr).toBe('')
      const { answers: again, ...counts } = jsonOf<Appended>(repeated)
      expect(counts).toEqual({ appended_count: 0, duplicate_count: 8, faults: [] })
      expect(again.map(({ answer, line }) => `${answer} ${line}`)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((line) => `duplicate ${line}`))
    },
    TIMEOUT_MS,
  )

  test(
    'reads standard input, and makes one batch of consecutive lines with the same batch member',
    async () => {
      const [first, second, ...others] = storyLines({ events: STEADY_EVENTS_PER_RUN, name: 'one' }).split('\n')
      const inBatch = (line: string | undefined) => JSON.stringify({ ...JSON.parse(line as string), batch: 'request' })
      // Blank lines count as lines and for nothing else.
      const { answers } = jsonOf<Appended>(await append([inBatch(first), '', inBatch(second), ...others].join('\n'), '--json'))
      expect(answers.map(({ line }) => line)).toEqual([1, ...Array.from({ length: STEADY_EVENTS_PER_RUN - 1 }, (_, i) => i + 3)])
      const segments = new Set(answers.map(({ segment }) => segment))
      expect(segments.size).toBe(1)
      const batches = await withStore(join(folder, 'store'), async ({ store }) => {
        const found = await store.get(segmentObjectName([...segments][0] as string))
        if (found.kind !== 'found') throw new Error('The segment that was answered is not there.')
        return (JSON.parse(Buffer.from(found.bytes).toString()) as { batches: { events: object[] }[] }).batches
      })
      expect(batches.map(({ events }) => events.length)).toEqual([2, ...others.filter((line) => line !== '').map(() => 1)])
      expect(batches.flatMap(({ events }) => events).filter((event) => 'batch' in event)).toEqual([])
    },
    TIMEOUT_MS,
  )

  test(
    'refuses the whole input for a bad line, and says which line, which field and what to do',
    async () => {
      const lines = linesOf(storyLines({ events: 2 * STEADY_EVENTS_PER_RUN, name: 'bad' }))
      const changed = (index: number, change: object) => JSON.stringify({ ...JSON.parse(lines[index] as string), ...change })
      const input = [
        lines[0],
        changed(1, { timestamp: 'yesterday' }),
        'not JSON',
        changed(2, { event_type: 'SomethingElse' }),
        changed(3, { batch: ['a'] }),
        changed(4, { workspace_id: 'other' }),
        ...Array.from({ length: 17 }, () => '[]'),
      ].join('\n')
      const before = jsonOf<Verified>(await ledger('verify', '--json'))
      const refused = await append(input)
      expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 1, stdout: '' })
      expect(refused.stderr).toMatch(/^line 2: timestamp is "yesterday"\. Give it /m)
      expect(refused.stderr).toMatch(/^line 3: The line is not JSON\. Write one event/m)
      expect(refused.stderr).toMatch(/^line 4: .*"SomethingElse".* Correct the name/m)
      expect(refused.stderr).toMatch(/^line 5: batch is neither text nor a number\. Give /m)
      expect(refused.stderr).toMatch(/^line 6: .*workspace other.* Append it to its own\.$/m)
      expect(refused.stderr).toContain('and 2 more.\nservo: nothing was appended, because 22 lines cannot be.')
      const told = await append(input, '--json')
      expect(told.stderr).toBe('')
      const { faults, ...counts } = jsonOf<Appended>(told, 1)
      expect(counts).toEqual({ appended_count: 0, duplicate_count: 0, answers: [] })
      expect(faults.map(({ line }) => line)).toEqual(Array.from({ length: 22 }, (_, i) => i + 2))
      expect(jsonOf<Verified>(await ledger('verify', '--json')).events).toEqual(before.events)
    },
    TIMEOUT_MS,
  )

  test(
    'refuses a batch that is too large before anything is appended',
    async () => {
      const line = JSON.parse(linesOf(storyLines({ events: 1, name: 'large' }))[0] as string) as object
      const input = [line, ...Array.from({ length: 2_001 }, () => ({ ...line, batch: 1 }))].map((event) => JSON.stringify(event)).join('\n')
      const refused = await append(input)
      expect(refused).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/line 2: .*2001 events, 2000 are the limit\. Divide/),
      })
    },
    TIMEOUT_MS,
  )
})

describe('servo ledger tail', () => {
  test(
    'prints the newest events, oldest first',
    async () => {
      const people = await ledger('tail', '--limit', '3')
      expect(people.code).toBe(0)
      expect(linesOf(people.stdout)).toHaveLength(3)
      expect(linesOf(people.stdout).at(-1)).toMatch(/^\S+Z TaskFinished \S+ \(servo\/test\)$/)
      const entries = jsonOf<{ event: { event_type: string } }[]>(await ledger('tail', '--json', '--limit', String(STEADY_EVENTS_PER_RUN)))
      expect(entries).toHaveLength(STEADY_EVENTS_PER_RUN)
      expect(entries[0]?.event.event_type).toBe('RunRequested')
    },
    TIMEOUT_MS,
  )

  test(
    'follows what is appended, until a signal ends it well',
    async () => {
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
})

describe('servo ledger compact', () => {
  test(
    'has nothing to show before the first revision',
    async () => {
      expect(await table('runs')).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('run `servo ledger compact` first'),
      })
      expect(await ledger('replay')).toMatchObject({ code: 1, stderr: expect.stringContaining('run `servo ledger compact` first') })
      const stats = await ledger('stats')
      expect(stats).toMatchObject({ code: 0, stderr: expect.stringContaining('There is no revision yet') })
      expect(stats.stdout).toContain('Revision 0, published never; 3 segments not folded')
    },
    TIMEOUT_MS,
  )

  test(
    'folds what is new and publishes it, and writes nothing where nothing is new',
    async () => {
      const applied = DEPLOY_EVENTS + 2 * STEADY_EVENTS_PER_RUN
      expect(await ledger('compact')).toMatchObject({
        code: 0,
        stdout: `Revision 1: ${applied} applied, 0 duplicate, 0 refused, 0 quarantined in 1 publish.`,
      })
      expect(jsonOf(await ledger('compact', '--json'))).toEqual({
        sequence: 1,
        processed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        published_count: 0,
        applied: 0,
        duplicate: 0,
        refused: 0,
        quarantined: 0,
      })
    },
    TIMEOUT_MS,
  )

  test(
    'watches until a signal ends it well',
    async () => {
      const watching = startServo(['ledger', 'compact', ...place, '--watch', '--json'])
      expect(await append(storyLines({ events: STEADY_EVENTS_PER_RUN, name: 'three' }))).toMatchObject({ code: 0 })
      const [first] = await watching.printed(1)
      expect(JSON.parse(first as string)).toMatchObject({ sequence: 2, applied: STEADY_EVENTS_PER_RUN })
      expect(await append(storyLines({ events: STEADY_EVENTS_PER_RUN, name: 'four' }))).toMatchObject({ code: 0 })
      const [, second] = await watching.printed(2)
      expect(JSON.parse(second as string)).toMatchObject({ sequence: 3, applied: STEADY_EVENTS_PER_RUN })
      watching.stop('SIGINT')
      expect(await watching.finished).toMatchObject({ code: 0 })
    },
    TIMEOUT_MS,
  )

  test(
    'merges and collects when it is asked to',
    async () => {
      const merged = jsonOf<Row>(await ledger('compact', '--merge', '--collect', '--json'))
      expect(merged).toMatchObject({ merged: { kind: 'merged', sequence: 4 }, collected: { deleted_count: 0 } })
      const again = await ledger('compact', '--merge', '--collect')
      expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing to merge.\nCollected 0 files') })
    },
    TIMEOUT_MS,
  )
})

describe('servo table', () => {
  test(
    'shows rows to people, and every row to programs',
    async () => {
      const people = await table('runs')
      expect(people.code).toBe(0)
      expect(people.stdout.match(/SUCCEEDED/g)).toHaveLength(4)
      expect((await table('runs', '--limit', '1')).stderr).toContain('These are the first 1 rows.')
      const rows = jsonOf<Row[]>(await table('runs', '--json'))
      expect(rows).toHaveLength(4)
      expect(rows[0]).toMatchObject({ tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID, state: 'SUCCEEDED', tasks_total: 6 })
      expect(jsonOf<Row[]>(await table('tasks', '--json', '--limit', '5'))).toHaveLength(5)
      expect(jsonOf<Row[]>(await table('refusals', '--json'))).toEqual([])
      expect(await table('refusals')).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('No row of refusals') })
    },
    TIMEOUT_MS,
  )

  test(
    'filters by conditions',
    async () => {
      const count = async (name: string, ...where: readonly string[]): Promise<number> =>
        jsonOf<Row[]>(await table(name, '--json', ...where.flatMap((condition) => ['--where', condition]))).length
      expect(await count('tasks', 'state=SUCCEEDED', 'asset_key=raw.events')).toBe(4)
      expect(await count('tasks', 'task_index>=4')).toBe(8)
      expect(await count('runs', 'error=null', 'finished_at<=2025-01-15T10:00:00Z')).toBe(4)
      expect(await count('runs', 'finished_at!=null', 'state!=SUCCEEDED')).toBe(0)
      expect(await count('runs', `tenant_id=${TENANT_ID}`, `workspace_id=${WORKSPACE_ID}`)).toBe(4)
      expect(await count('runs', 'workspace_id=another')).toBe(0)
    },
    TIMEOUT_MS,
  )

  test(
    'shows a table as it was, at a revision or an instant',
    async () => {
      const revisions = await withStore(join(folder, 'store'), async (deps) => {
        const { published } = await readPointer(deps.store)
        return published?.pointer
      })
      const runsAt = async (moment: string) => jsonOf<Row[]>(await table('runs', '--json', '--as-of', moment)).length
      expect(await runsAt('1')).toBe(2)
      expect(await runsAt('2')).toBe(3)
      expect(await runsAt(revisions?.revision as string)).toBe(4)
      expect(await runsAt(revisions?.published_at as string)).toBe(4)
      const named = `at revision 4, published at ${revisions?.published_at}.`
      expect((await table('runs', '--as-of', '4', '--json')).stderr).toContain(named)
      expect((await table('runs')).stderr).toContain(`4 rows ${named}`)
      expect(await table('runs', '--as-of', '2020-01-01T00:00:00Z')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('No revision was published at or before 2020-01-01T00:00:00.000Z. The newest is 4.'),
      })
      expect(await table('runs', '--as-of', '77', '--json')).toMatchObject({ code: 1, stdout: '' })
    },
    TIMEOUT_MS,
  )
})

describe('servo ledger verify, replay and stats', () => {
  const events = DEPLOY_EVENTS + 4 * STEADY_EVENTS_PER_RUN

  test(
    'say that all is well',
    async () => {
      const verified = await ledger('verify')
      expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('all is well.') })
      expect(verified.stdout).toContain(`${events} events = ${events} applied + 0 duplicate + 0 refused + 0 quarantined + 0 unfolded`)
      expect(jsonOf<Verified>(await ledger('verify', '--json'))).toMatchObject({ sequence: 4, problems: [], events: { ledger: events } })
      const replayed = await ledger('replay', '--from', 'genesis')
      expect(replayed).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Replayed \d+ events of 5 segments .* equal to the live tables\.$/),
      })
      expect(jsonOf<Replayed>(await ledger('replay', '--json'))).toMatchObject({ equal: true, event_count: events, differences: [] })
      const stats = await ledger('stats')
      expect(stats).toMatchObject({ code: 0, stdout: expect.stringContaining(`${events} events applied; `) })
      const { tables, ...counts } = jsonOf<{ tables: Row[]; sequence: number }>(await ledger('stats', '--json'))
      expect(counts).toMatchObject({ sequence: 4, applied_total: events, unfolded_segment_count: 0, lag_ms: 0 })
      expect(tables).toContainEqual(expect.objectContaining({ table: 'tasks', rows_at_most: 24 }))
    },
    TIMEOUT_MS,
  )

  test(
    'count what is not folded yet, and duplicates and refusals when it is',
    async () => {
      const copy = join(folder, 'outcomes')
      await cp(join(folder, 'store'), copy, { recursive: true })
      const [request, plan] = linesOf(storyLines({ events: 1, name: 'one' }))
      const stale = {
        ...JSON.parse(plan as string),
        idempotency_key: 'plan:again',
        event_id: newUlid(NOW, (count) => new Uint8Array(count)),
      }
      const said = await runServo(['ledger', 'append', ...at(copy), '--file', '-'], {}, [request, JSON.stringify(stale)].join('\n'))
      expect(said.code).toBe(0)
      const unfolded = jsonOf<Verified>(await servo('ledger', 'verify', '--json', ...at(copy)))
      expect(unfolded).toMatchObject({ problems: [], events: { ledger: events + 2, applied: events, unfolded: 2 } })
      expect((await servo('ledger', 'stats', ...at(copy))).stdout).toMatch(/; 1 segment not folded, lag [1-9]\d* ms\./)
      expect(await servo('ledger', 'compact', ...at(copy))).toMatchObject({ code: 0 })
      expect(jsonOf<Verified>(await servo('ledger', 'verify', '--json', ...at(copy)))).toMatchObject({
        problems: [],
        events: { ledger: events + 2, applied: events, duplicate: 1, refused: 1, unfolded: 0 },
      })
      expect(jsonOf<Replayed>(await servo('ledger', 'replay', '--json', ...at(copy)))).toMatchObject({ equal: true })
    },
    TIMEOUT_MS,
  )

  test(
    'verify names a table file that was damaged, and whoever reads it is told',
    async () => {
      const copy = join(folder, 'damaged')
      await cp(join(folder, 'store'), copy, { recursive: true })
      const path = await newestFile(copy, /base\/.*\/tasks\/|base\/tasks\//)
      const bytes = await readFile(path)
      bytes[8] = (bytes[8] as number) ^ 0xff
      await writeFile(path, bytes)
      const verified = await servo('ledger', 'verify', ...at(copy))
      expect(verified).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(/^wrong: state\/orchestration\/base\/tasks\/\S+ is damaged/m),
      })
      expect(verified.stdout).toContain('1 problem.')
      const { problems } = jsonOf<Verified>(await servo('ledger', 'verify', '--json', ...at(copy)), 1)
      expect(problems).toHaveLength(1)
      const read = await servo('table', 'tasks', '--json', ...at(copy))
      expect(read).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('servo ledger verify') })
    },
    TIMEOUT_MS,
  )

  test(
    'verify names a segment that is gone, and replay too',
    async () => {
      const copy = join(folder, 'gone')
      await cp(join(folder, 'store'), copy, { recursive: true })
      const path = await newestFile(copy, /ledger\/orchestration\/.*\.json\.g1$/)
      const segment = /([0-9A-Z]{26})\.json\.g1$/.exec(path)?.[1] as string
      await rm(path)
      const { problems } = jsonOf<Verified>(await servo('ledger', 'verify', '--json', ...at(copy)), 1)
      expect(problems).toContainEqual(
        expect.stringMatching(`^Segment ${segment}, folded by revision \\d, is not in the ledger any more. Restore it from a copy.$`),
      )
      expect(problems).toContainEqual(
        expect.stringContaining(`hold ${events - STEADY_EVENTS_PER_RUN} events, but the revisions account for`),
      )
      expect(await servo('ledger', 'replay', ...at(copy))).toMatchObject({ code: 1, stderr: expect.stringContaining(segment) })
    },
    TIMEOUT_MS,
  )

  test(
    'replay shows the first rows that differ when somebody published what the ledger does not say',
    async () => {
      const copy = join(folder, 'tampered')
      await cp(join(folder, 'store'), copy, { recursive: true })
      const [first, second] = await publishWrongRuns(copy)
      expect(await servo('ledger', 'verify', ...at(copy))).toMatchObject({ code: 0 })
      const { differences, equal } = jsonOf<Replayed>(await servo('ledger', 'replay', '--json', ...at(copy)), 1)
      expect(equal).toBe(false)
      expect(differences).toMatchObject([
        { table: 'runs', key: [first], columns: expect.arrayContaining(['state', 'tasks_failed']) },
        { table: 'runs', key: [second], columns: [], replayed: null },
      ])
      const people = await servo('ledger', 'replay', ...at(copy))
      expect(people.code).toBe(1)
      expect(people.stdout).toContain(`differs: runs ["${first}"]: state live "FAILED", replayed "SUCCEEDED"`)
      expect(people.stdout).toContain(`differs: runs ["${second}"] is in the live table, and the replay has no such row.`)
      expect(people.stdout).toMatch(/NOT equal to the live tables: 2 differ \(runs 2\)\.$/)
      const planned = await servo('ledger', 'rebuild', '--dry-run', ...at(copy))
      expect(planned).toMatchObject({ code: 0, stdout: expect.stringMatching(/: 2 differ \(runs 2\)\. Nothing was written\.$/) })
      expect(planned.stdout).toContain(`differs: runs ["${first}"]`)
      expect(await servo('ledger', 'rebuild', ...at(copy))).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('are those that the ledger says.'),
      })
      expect(jsonOf<Replayed>(await servo('ledger', 'replay', '--json', ...at(copy)))).toMatchObject({ equal: true })
      const since = await servo('ledger', 'replay', '--from', 'checkpoint', ...at(copy))
      expect(since).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Replayed 0 revisions from the checkpoint of revision \d+ .* equal to the live tables\.$/),
      })
      expect(await servo('ledger', 'verify', ...at(copy))).toMatchObject({ code: 0 })
    },
    TIMEOUT_MS,
  )

  test(
    'a poison segment is quarantined, the others are folded, and all stays well',
    async () => {
      const copy = join(folder, 'poison')
      await cp(join(folder, 'store'), copy, { recursive: true })
      await withStore(copy, async ({ store, clock, random }) => {
        const known = linesOf(storyLines({ events: 1, name: 'five' }))[0] as string
        const batch = {
          batch_id: newUlid(clock.now(), random),
          events: [{ ...JSON.parse(known), event_type: 'NotYetKnown' }, JSON.parse(known)],
        }
        const segment = { schema: 'servo-segment-v1', tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID, batches: [batch] }
        const readable = JSON.stringify({ ...segment, write_id: newUlid(clock.now(), random), written_at: new Date().toISOString() })
        for (const text of ['{"schema":"servo-segment-v1", and then the power failed', readable]) {
          await store.put(segmentObjectName(newUlid(clock.now(), random)), Buffer.from(text), { if_generation: '0' })
        }
      })
      expect((await servo('ledger', 'tail', '--limit', '3', ...at(copy))).stdout).toMatch(
        / BAD_JSON \{"schema".*\n.* UNKNOWN_TYPE \{.*\n.* RunRequested /,
      )
      const compacted = await servo('ledger', 'compact', ...at(copy))
      expect(compacted).toMatchObject({ code: 0, stdout: expect.stringContaining('1 applied, 0 duplicate, 0 refused, 2 quarantined') })
      const rows = jsonOf<Row[]>(await servo('table', 'quarantine', '--json', ...at(copy)))
      expect(rows.map(({ reason }) => reason).sort()).toEqual(['BAD_JSON', 'UNKNOWN_TYPE'])
      expect(rows.map(({ raw }) => String(raw)).join()).toContain('and then the power failed')
      expect(jsonOf<Verified>(await servo('ledger', 'verify', '--json', ...at(copy)))).toMatchObject({
        problems: [],
        events: { ledger: events + 3, applied: events + 1, quarantined: 2 },
      })
      expect(jsonOf<Replayed>(await servo('ledger', 'replay', '--json', ...at(copy)))).toMatchObject({ equal: true })
    },
    TIMEOUT_MS,
  )
})

describe('a command that cannot be done', () => {
  test.each([
    ['an unknown table', ['table', 'run'], 'There is no table run. There are: runs, tasks,'],
    ['an unknown column', ['table', 'runs', '--where', 'status=OK'], 'runs has no column status. It has: tenant_id, workspace_id, run_id,'],
    ['no condition', ['table', 'runs', '--where', 'state'], 'write column=value, for example state=RUNNING'],
    ['no count', ['table', 'runs', '--limit', 'many'], 'Give a whole number from 1 on.'],
    ['no moment', ['table', 'runs', '--as-of', 'lately'], 'A revision is given by its number or its id.'],
    ['a moment without a zone', ['table', 'runs', '--as-of', '2026-11-20 01:40'], 'Write 2026-11-20T01:40:00Z for UTC, or'],
    ['a condition without a zone', ['table', 'runs', '--where', 'requested_at>2026-11-20 01:40'], 'Write 2026-11-20T01:40:00Z for UTC, or'],
    ['no store', ['ledger', 'verify', '--store', 's3://bucket'], 'Write local:PATH for a folder, or gs://bucket/prefix'],
    ['no such start', ['ledger', 'replay', '--from', 'yesterday'], 'Say genesis for the first event'],
    ['no tenant', ['ledger', 'verify', '--tenant', 'Acme'], 'Use 1 to 63 lower-case letters'],
    ['no file', ['ledger', 'append'], "Required option '--file <path>' not specified"],
    ['no such file', ['ledger', 'append', '--file', 'nowhere.ndjson'], '--file nowhere.ndjson cannot be read'],
    ['an unknown option', ['ledger', 'compact', '--merges'], "Unknown option '--merges'"],
    ['an unknown command', ['ledger', 'fold'], "Unknown command 'fold'"],
  ])(
    '%s: a sentence and exit code 2',
    async (_, args, sentence) => {
      const finished = await servo(...args)
      expect(finished).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) })
    },
    TIMEOUT_MS,
  )

  test(
    'as a process of its own exits with the same codes',
    async () => {
      const codes = await Promise.all(
        [
          ['ledger', 'stats', ...place, '--json'],
          ['table', 'runs', ...place, '--as-of', '77'],
          ['table', 'run', ...place],
          ['ledger', 'tail', ...NOWHERE],
        ].map(async (args) => (await runServo(args)).code),
      )
      expect(codes).toEqual([0, 1, 2, 3])
    },
    TIMEOUT_MS,
  )

  test(
    'on a store that does not answer: exit code 3, and soon',
    async () => {
      const file = join(folder, 'deploy.ndjson')
      const commands = [
        ['ledger', 'append', '--file', file, ...STORY_SCOPE],
        ['ledger', 'compact', '--merge'],
        ['ledger', 'tail'],
        ['table', 'runs'],
      ]
      for (const command of commands) {
        const began = performance.now()
        const finished = await servo(...command, ...NOWHERE)
        expect(finished).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('gs://nobody-is-there') })
        expect(performance.now() - began).toBeLessThan(15_000)
      }
      const notAFolder = await servo('ledger', 'verify', '--store', `local:${file}`)
      expect(notAFolder).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('Check the path and its rights.') })
    },
    TIMEOUT_MS,
  )
})

/** The youngest file of the store whose path fits. */
async function newestFile(store: string, fits: RegExp): Promise<string> {
  const names = (await readdir(store, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => fits.test(path))
  const newest = names.sort((left, right) => ((left.split('/').at(-1) as string) < (right.split('/').at(-1) as string) ? -1 : 1)).at(-1)
  if (newest === undefined) throw new Error(`No file in ${store} fits ${fits}.`)
  return newest
}

/** A revision like any other, with rows that no event gave: one run changed, one made up. Answers their ids. */
const publishWrongRuns = (store: string): Promise<readonly [string, string]> =>
  withStore(store, async (deps) => {
    const view = await openReader(deps).latest()
    const { published } = await readPointer(deps.store)
    if (view === undefined || published === undefined) throw new Error('There is no revision to publish upon.')
    const [run] = (await view.page('runs', { limit: 1 })).rows
    const { revision } = view.snapshot
    const sequence = view.sequence + 1
    const wrong = { ...run, state: 'FAILED', tasks_failed: 1, row_version: sequence } as unknown as LooseRow
    const extra = { ...run, run_id: 'run_zzzzzzzzzzzzzzzzzzzzzzzzzz', row_version: sequence } as unknown as LooseRow
    const answer = await publish(deps, {
      ...revision,
      sequence,
      base: published,
      snapshot: view.snapshot,
      changed: new Map([['runs', rowsByKey('runs', [wrong, extra])]]),
      segments: [],
      fold_time: instantMs(revision.fold_time),
      published_at: deps.clock.now(),
      counts: { applied: 0, duplicate: 0, refused: 0, quarantined: 0 },
      with_checkpoint: false,
      open_segments: NO_NAMES,
      abort_after: Number.POSITIVE_INFINITY,
    })
    expect(answer.kind).toBe('published')
    return [String(wrong['run_id']), String(extra['run_id'])]
  })

describe('pack', () => {
  test(
    'packs what is old enough, says so, and every other command finds it',
    async () => {
      const old = join(folder, 'old')
      const expected = await withStore(old, ({ store, scope }) => writeOldLedger(store, scope))
      const on = (command: string, ...args: readonly string[]): Promise<Finished> => servo('ledger', command, ...at(old), ...args)
      const before = jsonOf<readonly Row[]>(await on('tail', '--limit', '1000', '--json'))
      expect(before).toHaveLength(expected.bodies.size)
      expect(await on('pack', '--dry-run')).toMatchObject({ code: 0, stdout: '18 segments of 2 pages would be packed.' })
      expect(await on('pack')).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(
          /^Packed 18 segments of 2 pages into 2 packs of \d+ bytes, and removed 18 single segments\. Bound the revisions of 2 pages, and removed \d single revisions\.$/,
        ),
      })
      const segments = (rows: readonly Row[]) => rows.map(({ segment }) => segment)
      expect(segments(jsonOf(await on('tail', '--limit', '1000', '--json')))).toEqual(segments(before))
      expect(await on('verify')).toMatchObject({ code: 0, stdout: expect.stringContaining('18 segments in packs.\n7 revisions') })
      expect(jsonOf(await on('pack', '--json'))).toEqual({
        page_count: 0,
        segment_count: 0,
        pack_count: 0,
        pack_bytes: 0,
        deleted_count: 0,
        bound_count: 0,
        revisions_deleted_count: 0,
        left: [],
      })
    },
    TIMEOUT_MS,
  )

  test(
    'says that there is nothing to pack, and names the page that it had to leave',
    async () => {
      expect(await ledger('pack')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Nothing to pack: no page of 1,000 revisions/) })
      const damaged = join(folder, 'damaged-old')
      await withStore(damaged, async ({ store, scope }) => {
        const { revisions } = await writeOldLedger(store, scope)
        const { name, generation } = revisions[0]?.segments[0] as { name: string; generation: string }
        await store.delete(segmentObjectName(name), { if_generation: generation })
      })
      expect(await servo('ledger', 'pack', ...at(damaged))).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(
          /^left: Page 0 of the chain is left as it is: segment \w+ is gone\. Restore it from a copy\.\nPacked 9 /,
        ),
      })
    },
    TIMEOUT_MS,
  )
})
