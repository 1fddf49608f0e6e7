// `servo run` and `servo conflicts` on a real API with real turns; the worker's part is said by the test.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type Commands, startCommands } from '../fixtures/api-commands.js'
import { dispatched, MAIN, type Out } from '../fixtures/api-world.js'
import { ulidOf } from '../fixtures/say.js'
import { type Finished, runServo, startServo } from '../fixtures/servo-process.js'
import { until } from '../fixtures/until.js'

let at: Commands
beforeAll(async () => {
  at = await startCommands()
  expect(await at.ask.post('/code-locations/main/deploy', MAIN)).toMatchObject({ status: 202 })
})
afterAll(() => at.close())

const RUN_ID = /run_[a-z0-9]{26}/
const idIn = ({ stdout }: Finished): string => RUN_ID.exec(stdout)?.[0] as string
const fail = (): object => ({ outcome: 'FAILED', error: { code: 'BOOM', message: 'It broke.\nOn the second line more.' } })

async function started(...args: readonly string[]): Promise<string> {
  const finished = await at.servo('run', 'start', ...args)
  expect(finished).toMatchObject({ code: 0, stdout: expect.stringMatching(RUN_ID) })
  return idIn(finished)
}

function json<T>({ code, stdout, stderr }: Finished, wanted = 0): T {
  expect({ code, stderr }).toEqual({ code: wanted, stderr: '' })
  expect(stdout.split('\n')).toHaveLength(1)
  return JSON.parse(stdout) as T
}

/** Ends what comes while the command waits for it. */
async function whileWorking(command: Promise<Finished>, ending?: (out: Out) => object): Promise<Finished> {
  let finished: Finished | undefined
  void command.then((answer) => {
    finished = answer
  })
  return until('the command ends', async () => {
    await at.work(ending)
    return finished
  })
}

describe('servo run start', () => {
  test('asks for a run, and says how to watch it', async () => {
    const finished = await at.servo('run', 'start', '+b', '--tag', 'why=test', '--reason', 'to see', '--priority', '-5')
    expect(finished.stdout).toMatch(/^Asked for run run_[a-z0-9]{26} of 2 assets\.$/)
    expect(finished.stderr).toMatch(/^Watch it: servo run watch run_/)
    await at.work()
    const run = await at.ask.get(`/runs/${idIn(finished)}`)
    expect(run.body).toMatchObject({ state: 'SUCCEEDED', tags: { why: 'test' }, priority: -5, assets: { keys: ['a', 'b'] } })
  })

  test('waits for the end, a line for each change, and its exit code is that of the run', async () => {
    const good = await whileWorking(at.servo('run', 'start', '+b', '--wait'))
    expect(good.code).toBe(0)
    expect(good.stdout).toMatch(/^\d\d:\d\d:\d\d a SUCCEEDED$/m)
    expect(good.stdout).toMatch(/Run run_\w+ SUCCEEDED in .*\. 2 tasks: 2 succeeded\.$/)
    const bad = await whileWorking(at.servo('run', 'start', '+b', '--wait'), fail)
    expect(bad.code).toBe(1)
    expect(bad.stdout).toMatch(/^\d\d:\d\d:\d\d a FAILED: It broke\.$/m)
    expect(bad.stdout).toMatch(/Run run_\w+ FAILED in .*\. 2 tasks: 1 failed, 1 skipped\.$/)
    expect(bad.stderr).toMatch(/Why: servo run show run_/)
  })

  test('answers programs with one value, waiting or not', async () => {
    expect(json(await at.servo('run', 'start', 'a', '--json'))).toMatchObject({ asset_count: 1, run_id: expect.stringMatching(RUN_ID) })
    await at.work()
    const waited = await whileWorking(at.servo('run', 'start', 'a', '--wait', '--json'))
    expect(json(waited)).toMatchObject({ state: 'SUCCEEDED', tasks_succeeded: 1 })
    expect(json(await whileWorking(at.servo('run', 'start', 'a', '--wait', '--json'), fail), 1)).toMatchObject({ state: 'FAILED' })
  })

  test.each([
    [['--partition', 'x', '--partition', 'z'], { keys: ['x', 'z'] }],
    [['--partitions', 'x..y'], { range: { start: 'x', end: 'y' } }],
    [['--all-partitions'], { all: true }],
  ])('takes partitions: %j', async (args, partitions) => {
    const run_id = await started('c', ...args)
    await at.work()
    expect((await at.ask.get(`/runs/${run_id}`)).body).toMatchObject({ state: 'SUCCEEDED', partitions })
  })

  test.each([
    ['an asset that is not there', ['start', 'aa', 'b'], 'aa is not defined.'],
    ['partitions that are not there', ['start', 'c', '--partition', 'w'], '"w"'],
    ['partitions left out', ['start', 'c'], 'The selected assets have partitions: say which.'],
    ['no range', ['start', 'c', '--partitions', 'x-z'], 'Write its first and its last key'],
    ['no selector', ['start'], "Missing required argument 'selector'"],
    ['no tag', ['start', 'a', '--tag', 'x'], 'Write NAME=VALUE.'],
    ['no priority', ['start', 'a', '--priority', 'high'], 'Give a whole number.'],
    ['a priority out of bounds', ['start', 'a', '--priority', '1000'], 'priority'],
    ['a mistyped state', ['list', '--state', 'runing'], 'Did you mean RUNNING?'],
    ['a mistyped option', ['list', '--stat', 'FAILED'], 'Did you mean --state?'],
    ['a mistyped command', ['strat', 'a'], 'Did you mean start?'],
    ['no run', ['show', 'abc'], '"abc" is no run. Give a run id'],
    ['a run that is not there', ['show', 'run_aaaaaaaa'], 'None of the newest 100 runs begins with'],
    ['nothing to cancel', ['cancel'], 'Say which runs'],
    ['runs and a filter', ['cancel', 'last', '--asset', 'a'], 'not both'],
  ])('%s: a sentence and exit code 2', async (_, args, sentence) => {
    expect(await at.servo('run', ...args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) })
  })
})

describe('a run key', () => {
  test('that another request holds: exit code 1, and it is in the list of conflicts', async () => {
    expect(await at.servo('conflicts', 'list')).toMatchObject({ code: 0, stderr: expect.stringContaining('There is no conflict') })
    const holder = await started('a', '--run-key', 'nightly')
    expect(await started('a', '--run-key', 'nightly')).toBe(holder)
    const refused = await at.servo('run', 'start', 'b', '--run-key', 'nightly', '--wait')
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(`belongs to run ${holder}`) })
    await at.work()
    const listed = await at.servo('conflicts', 'list')
    expect(listed.stdout).toMatch(/nightly/)
    expect(json<readonly object[]>(await at.servo('conflicts', 'list', '--json'))).toMatchObject([{ run_id: holder }])
  })
})

describe('one run', () => {
  let run_id = ''
  beforeAll(async () => {
    run_id = await started('+b', 'c', '--partitions', 'x..z', '--tag', 'team=core')
    await at.work(({ claims }) => (claims.task_key === 'a' ? fail() : { outcome: 'SKIPPED', skip_reason: 'Nothing new.' }))
  })

  test('is shown with what failed of it, by its id, the beginning of it, and as the last', async () => {
    const shown = await at.servo('run', 'show', run_id)
    expect(shown.code).toBe(0)
    expect(shown.stdout).toMatch(new RegExp(`^Run ${run_id}\n {2}state +FAILED\n`))
    expect(shown.stdout).toMatch(/tags +team=core\n/)
    expect(shown.stdout).toMatch(/failed +a: It broke\.$/m)
    expect(shown.stdout).toMatch(/finished +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(/)
    expect(shown.stderr).toBe(`Its log: servo run logs ${run_id} 'a'`)
    for (const word of ['last', run_id.slice(0, 14), run_id.slice(4, 12)]) {
      expect(json(await at.servo('run', 'show', word, '--json'))).toMatchObject({ run_id })
    }
  })

  test('has tasks, in the order of its plan', async () => {
    const tasks = json<readonly { task_key: string; state: string }[]>(await at.servo('run', 'tasks', 'last', '--json'))
    expect(tasks.map(({ task_key, state }) => `${task_key} ${state}`)).toEqual(
      expect.arrayContaining(['a FAILED', 'b SKIPPED', expect.stringMatching(/^c(#0)? SKIPPED$/)]),
    )
    const table = (await at.servo('run', 'tasks', 'last')).stdout
    expect(table).toMatch(/a.*FAILED.*1\/1.*It broke\./)
    expect(table).toMatch(/c.*SKIPPED.*x\.\.z.*Nothing new\./)
    expect((await at.servo('run', 'tasks', 'last', '--state', 'failed')).stdout).not.toContain('SKIPPED')
  })

  test('has events, in the order in which they happened', async () => {
    const events = json<readonly { event_type: string }[]>(await at.servo('run', 'events', run_id, '--json'))
    expect(events.map(({ event_type }) => event_type).slice(0, 2)).toEqual(['RunRequested', 'PlanCreated'])
    expect((await at.servo('run', 'events', run_id)).stdout).toMatch(/TaskFinished.*a.*1.*It broke\./)
  })

  test('is in the list, newest first, and filtered', async () => {
    const [first] = json<readonly object[]>(await at.servo('run', 'list', '--json', '--limit', '1'))
    expect(first).toMatchObject({ run_id })
    const failed = json<readonly { state: string }[]>(await at.servo('run', 'list', '--state', 'failed', '--tag', 'team=core', '--json'))
    expect(failed).toMatchObject([{ run_id, state: 'FAILED' }])
    const table = await at.servo('run', 'list', '--limit', '2')
    expect(table.stdout).toMatch(new RegExp(`${run_id}.*FAILED.*a, b \\+ 1.*x\\.\\.z`))
    expect(table.stderr).toBe('These are the newest 2. Say --limit or --all to see more.')
    expect(await at.servo('run', 'list', '--asset', 'nobody')).toMatchObject({ code: 0, stdout: '', stderr: 'No run fits.' })
  })

  test('says why a task does not run, in local time', async () => {
    const why = await at.servo('run', 'why', run_id, 'a')
    expect(why).toMatchObject({ code: 0, stderr: '' })
    expect(why.stdout).toMatch(
      /^a is over: it FAILED at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(.*\) with attempt 1, because its code failed: It broke\. `servo run rerun run_/,
    )
    expect((await at.servo('run', 'why', 'last', 'b')).stdout).toMatch(
      /^b is over: it was SKIPPED at .*, because it needs a, which is FAILED\.$/,
    )
    expect(json(await at.servo('run', 'why', 'last', 'b', '--json'))).toMatchObject({
      task_key: 'b',
      code: 'OVER',
      since_at: expect.stringMatching(/Z$/),
      upstream: [{ task_key: 'a', state: 'FAILED' }],
    })
    expect(await at.servo('run', 'why', run_id, 'nobody')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no task nobody in run'),
    })
  })

  test('watched when it is over says how it ended', async () => {
    const watched = await at.servo('run', 'watch', run_id)
    expect(watched.code).toBe(1)
    expect(watched.stdout).toMatch(/FAILED in/)
    const lines = (await at.servo('run', 'watch', run_id, '--json')).stdout.split('\n').map((line) => JSON.parse(line) as object)
    expect(lines).toHaveLength(4)
    expect(lines.at(-1)).toMatchObject({ run_id, state: 'FAILED' })
  })
})

test('a run whose task nobody took in time is shown with the reason, and says where there is more of it', async () => {
  const retry = { max_attempts: 1, max_infra_losses: 0, backoff_seconds: 1 }
  const assets = [{ asset_key: 'lone', deps: [], start_timeout_seconds: 1, retry }]
  expect(await at.ask.post('/code-locations/lone/deploy?wait=true', { ...MAIN, assets })).toMatchObject({ status: 202 })
  const run_id = await started('lone')
  await until('the attempt is given up', async () => {
    at.world.passSeconds(2)
    await at.world.turn.run()
    return (await at.servo('run', 'show', run_id)).stdout.includes('FAILED')
  })
  const shown = await at.servo('run', 'show', run_id)
  expect(shown.stdout).toMatch(/failed +lone: START_DEADLINE$/m)
  expect(shown.stderr.split('\n')).toContain(`Why, and what to do: servo run why ${run_id} 'lone'`)
  expect((await at.servo('run', 'why', run_id, 'lone')).stdout).toMatch(
    /no worker started it in time, and nobody is known to have taken it/,
  )
})

describe('a run that is under way', () => {
  let run_id = ''
  let out: readonly Out[] = []
  beforeEach(async () => {
    run_id = await started('a')
    out = await until('the attempt is out', async () => {
      const all = await dispatched(at.world)
      return all.some(({ claims }) => claims.run_id === run_id) && all.filter(({ claims }) => claims.run_id === run_id)
    })
    for (const { path, said, headers } of out) await at.ask.post(`${path}/started`, { ...said, worker_id: 'w1' }, headers)
  })

  /** What was started is over: it is not out any more, and nobody else ends it. */
  const end = async (ending: object) => {
    for (const { path, said, headers } of out) {
      expect(await at.ask.post(`${path}/completed`, { ...said, ...ending }, headers)).toMatchObject({ status: 200 })
    }
    await at.world.turn.run()
  }

  const log = async (chunk: number, ...messages: readonly string[]) => {
    const [one] = out as readonly [Out]
    const lines = messages.map((message) => ({ at: new Date().toISOString(), level: 'INFO', message, fields: { rows: 3 } }))
    expect(await at.ask.post(`${one.path}/logs`, { ...one.said, chunk, lines }, one.headers)).toMatchObject({ status: 200 })
  }

  test('is watched until somebody stops watching', async () => {
    const watching = startServo(['run', 'watch', run_id, '--api', at.url])
    await watching.printed(1)
    watching.stop('SIGINT')
    const finished = await watching.finished
    expect(finished).toMatchObject({ code: 1, stderr: 'servo: Stopped watching; the run goes on.' })
    expect(finished.stdout).toMatch(/^\d\d:\d\d:\d\d a RUNNING$/)
    await end({ outcome: 'SKIPPED', skip_reason: 'It was a test.' })
  })

  test('has its log shown, and followed until its end', async () => {
    await log(0, 'one')
    const shown = await at.servo('run', 'logs', run_id, 'a')
    expect(shown).toMatchObject({ code: 0, stderr: '' })
    expect(shown.stdout).toMatch(/^\d\d:\d\d:\d\d INFO {2}one {2}rows=3$/)
    const following = startServo(['run', 'logs', run_id, '--follow', '--json', '--api', at.url])
    await following.printed(1)
    await log(1, 'two', 'three')
    await following.printed(3)
    await end({ outcome: 'SKIPPED', skip_reason: 'It was a test.' })
    const { code, stdout } = await following.finished
    expect(code).toBe(0)
    expect(stdout.split('\n').map((line) => JSON.parse(line) as object)).toMatchObject([
      { task_key: 'a', attempt: 1, message: 'one' },
      { message: 'two' },
      { message: 'three' },
    ])
  })

  test('is cancelled by its id', async () => {
    const cancelled = await at.servo('run', 'cancel', run_id.slice(0, 16), '--reason', 'enough')
    expect(cancelled).toMatchObject({ code: 0, stdout: expect.stringContaining(`Asked run ${run_id} to end.`) })
    await end({ outcome: 'CANCELLED' })
    expect((await at.ask.get(`/runs/${run_id}`)).body).toMatchObject({ state: 'CANCELLED' })
    const again = await at.servo('run', 'cancel', run_id)
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('is over') })
  })

  test.each<[string, () => readonly string[], RegExp]>([
    ['its id', () => [run_id], /1 run is over after \d+\.\d s: 1 CANCELLED\.$/],
    ['a filter', () => ['--asset', 'a', '--yes'], /1 run is over after \d+\.\d s: 1 CANCELLED\.$/],
  ])('is cancelled by %s, and waited for until it is over', async (_, args, said) => {
    const waiting = at.servo('run', 'cancel', ...args(), '--wait')
    await until('the cancel is folded', async () => (await at.ask.get(`/runs/${run_id}?fresh=true`)).body['state'] === 'CANCELLING')
    await end({ outcome: 'CANCELLED' })
    expect(await waiting).toMatchObject({ code: 0, stdout: expect.stringContaining(run_id), stderr: expect.stringMatching(said) })
  })

  test('is cancelled and waited for by a program, which is told how it ended', async () => {
    const waiting = at.servo('run', 'cancel', run_id, '--wait', '--json')
    await until('the cancel is folded', async () => (await at.ask.get(`/runs/${run_id}?fresh=true`)).body['state'] === 'CANCELLING')
    await end({ outcome: 'SUCCEEDED', materialization_id: ulidOf(run_id) })
    // What was done when it was told to stop is done.
    expect(json(await waiting)).toMatchObject([{ run_id, state: 'SUCCEEDED' }])
  })

  test('is cancelled with all that fit, once it is said twice', async () => {
    const shown = await at.servo('run', 'cancel', '--asset', 'a')
    expect(shown).toMatchObject({
      code: 2,
      stdout: `${run_id} RUNNING`,
      stderr: expect.stringContaining('1 run would be. Add --yes to cancel it.'),
    })
    expect(json(await at.servo('run', 'cancel', '--asset', 'a', '--yes', '--json'))).toEqual({ run_ids: [run_id], matched_count: 1 })
    await end({ outcome: 'CANCELLED' })
    expect(await at.servo('run', 'cancel', '--asset', 'a', '--yes')).toMatchObject({ code: 0, stdout: '', stderr: 'No open run fits.' })
  })
})

describe('servo run rerun', () => {
  test('runs what did not succeed, and nothing else; --whole all of it', async () => {
    const parent = await started('+b')
    await at.work(({ claims }) =>
      claims.task_key === 'b' ? fail() : { outcome: 'SUCCEEDED', materialization_id: ulidOf(claims.attempt_id) },
    )
    const again = await whileWorking(at.servo('run', 'rerun', parent.slice(0, 16), '--wait', '--reason', 'mended'))
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d\d:\d\d:\d\d b SUCCEEDED$/m) })
    expect(again.stdout).toMatch(/Run run_\w+ SUCCEEDED in .*\. 1 task: 1 succeeded\.$/)
    expect((await at.servo('run', 'show', 'last')).stdout).toMatch(new RegExp(`rerun of +${parent}\n`))
    const same = json<{ run_id: string }>(await at.servo('run', 'rerun', parent, '--json'))
    expect(same.run_id).toBe(idIn(again))
    const whole = await whileWorking(at.servo('run', 'rerun', parent, '--whole', '--wait', '--json'))
    expect(json(whole)).toMatchObject({ state: 'SUCCEEDED', tasks_succeeded: 2, parent_run_id: parent })
  })

  test('of what is done is refused: exit code 1', async () => {
    const parent = await started('a')
    await at.work()
    expect(await at.servo('run', 'rerun', parent)).toMatchObject({ code: 1, stderr: expect.stringContaining('all of its tasks succeeded') })
  })
})

describe('an API that is not as it should be', () => {
  test('that is not there: exit code 3, and how to start it', async () => {
    const finished = await runServo(['run', 'list', '--json'], { SERVO_API: 'http://127.0.0.1:9' })
    expect(finished).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining("Servo's API does not answer at http://127.0.0.1:9"),
    })
    expect(finished.stderr).not.toContain('    at ')
  })

  test('that wants a token: exit code 1 without it, and 0 with it', async () => {
    const api = await at.world.start({ api_token: 'a-token-of-16-letters' })
    const list = (environment: Readonly<Record<string, string>>) => runServo(['run', 'list', '--api', api.listeningOrigin], environment)
    expect(await list({ SERVO_API_TOKEN: '' })).toMatchObject({ code: 1, stderr: expect.stringContaining('The request has no token.') })
    expect(await list({ SERVO_API_TOKEN: 'another-token-of-this' })).toMatchObject({ code: 1 })
    expect(await list({ SERVO_API_TOKEN: 'a-token-of-16-letters' })).toMatchObject({ code: 0 })
    // Of several, which are there while the token is rotated, the first is sent.
    expect(await list({ SERVO_API_TOKEN: 'a-token-of-16-letters,another-token-of-this' })).toMatchObject({ code: 0 })
    expect(await list({ SERVO_API_TOKEN: 'another-token-of-this,a-token-of-16-letters' })).toMatchObject({ code: 1 })
  })
})
