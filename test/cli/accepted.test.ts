// Commands that wait while nobody takes up what was accepted: they say so, and keep waiting or end with exit code 4. None
// says that what was accepted is not there.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { type Commands, startBetween, startCommands } from '../fixtures/api-commands.js'
import { MAIN } from '../fixtures/api-world.js'
import { type Finished, startServo } from '../fixtures/servo-process.js'
import { until } from '../fixtures/until.js'

const HINT = 'It is accepted and kept, and the next turn carries it out.'
const BEHIND =
  'The newest revision does not have it. If it was accepted, it is kept, and the next turn carries it out. No turn has taken it up'
const RUN_ID = /run_[a-z0-9]{26}/
const SCHEDULE = ['--cron', '0 0 1 1 *', '--select', 'a'] as const

/** The API waits so long for a turn, and previews what none has published for a minute. */
const SOON_SECONDS = 15
const BEHIND_SECONDS = 120

let at: Commands
beforeAll(async () => {
  at = await startCommands()
  expect(await at.ask.post('/code-locations/main/deploy?wait=true', MAIN)).toMatchObject({ status: 202 })
  expect(await at.servo('schedule', 'create', 'yearly', ...SCHEDULE, '--wait')).toMatchObject({ code: 0 })
})
afterAll(() => at.close())
afterEach(() => at.world.releaseTurns())

/** While no turn comes, the time that the API waits for one passes at once, as long as `isPassing` says so. */
async function whileNobodyTurns(command: Promise<Finished>, isPassing: () => boolean = () => true): Promise<Finished> {
  let finished: Finished | undefined
  void command.then((end) => {
    finished = end
  })
  return until('the command ends', () => {
    if (isPassing()) at.world.passSeconds(5)
    return finished
  })
}

/** So many seconds pass, from the next append on. */
function afterAppend(seconds: number): () => boolean {
  let isAppended = false
  let left = seconds / 5
  at.world.watchPuts((name) => {
    isAppended ||= name.startsWith('ledger/')
  })
  return () => isAppended && left-- > 0
}

type Watched = { readonly looked: (times: number) => Promise<void>; readonly finished: Promise<Finished> }

type Answered = { status: number; body: object }

const DEGRADED: Answered = {
  status: 200,
  body: { ready: true, degraded: true, checks: [{ name: 'automation', ok: false, needed: false, detail: 'No turn has come for 62 s.' }] },
}

/** A command, and how often it has looked for its run. */
async function watching(
  args: readonly string[],
  passing: number | (() => boolean) = SOON_SECONDS,
  looks: (count: number) => Answered | undefined = () => undefined,
  readyz?: Answered,
) {
  let count = 0
  const between = await startBetween(at.url, async (url, method) => {
    if (url.startsWith('/readyz')) return readyz
    if (method !== 'GET' || !/\/runs\/run_[a-z0-9]+($|\?)/.test(url)) return undefined
    count += 1
    return looks(count)
  })
  const servo = startServo([...args, '--api', between.url])
  const finished = servo.finished.finally(between.close)
  const isPassing = typeof passing === 'number' ? afterAppend(passing) : passing
  const looked = async (times: number) => {
    await until('the command has looked for its run', () => {
      if (isPassing()) at.world.passSeconds(5)
      return count >= times || undefined
    })
  }
  return { looked, finished } satisfies Watched
}

async function worked({ finished }: Watched): Promise<Finished> {
  at.world.releaseTurns()
  let end: Finished | undefined
  void finished.then((value) => {
    end = value
  })
  return until('the command ends', async () => {
    await at.work()
    return end
  })
}

describe('a run that no turn has taken up', () => {
  test.each([
    ['start', () => ['run', 'start', 'a', '--wait'], BEHIND_SECONDS],
    ['trigger', () => ['schedule', 'trigger', 'yearly', '--wait'], SOON_SECONDS],
  ])('is waited for by %s, which says that it is accepted, and ends with the run', async (_, args, seconds) => {
    at.world.holdTurns()
    const command = await watching(args(), seconds)
    await command.looked(4)
    const { code, stdout, stderr } = await worked(command)
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(HINT) })
    expect(stdout).toMatch(/Run run_\w+ SUCCEEDED in/)
    expect(stderr).not.toContain('There is no run')
  })

  test('is waited for by rerun', async () => {
    const parent = RUN_ID.exec((await at.servo('run', 'start', 'a')).stdout)?.[0] as string
    await at.work(() => ({ outcome: 'FAILED', error: { code: 'BOOM', message: 'It broke.' } }))
    at.world.holdTurns()
    const command = await watching(['run', 'rerun', parent, '--wait', '--json'])
    await command.looked(4)
    const { code, stdout } = await worked(command)
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { state: 'SUCCEEDED', parent_run_id: parent }])
  })

  test('is shown and watched as PENDING, and cancelled', async () => {
    at.world.holdTurns()
    const run_id = RUN_ID.exec((await at.servo('run', 'start', 'a')).stdout)?.[0] as string
    expect((await at.servo('run', 'show', run_id)).stdout).toMatch(/state +PENDING/)
    const watch = await watching(['run', 'watch', run_id])
    await watch.looked(4)
    const cancel = await whileNobodyTurns(at.servo('run', 'cancel', run_id, '--wait'), afterAppend(SOON_SECONDS))
    expect(cancel).toMatchObject({ code: 0, stderr: expect.stringMatching(/1 run is over after .*: 1 CANCELLED\.$/) })
    expect(await watch.finished).toMatchObject({ code: 1, stdout: expect.stringMatching(/Run run_\w+ CANCELLED in/) })
  })

  test('is waited for through moments in which the API has no answer', async () => {
    const busy = { status: 503, body: { title: 'Not ready', detail: 'Ask again in a moment.' } }
    const command = await watching(['run', 'start', 'a', '--wait'], SOON_SECONDS, (count) => (count <= 2 ? busy : undefined))
    await command.looked(4)
    const { code, stderr } = await worked(command)
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/Ask again in a moment\.[\s\S]*The API answers again\./) })
  })

  test('is denied by nobody, for however long no turn comes: exit code 4 says so, and a cancel is not accepted', async () => {
    at.world.holdTurns()
    const run_id = RUN_ID.exec((await at.servo('run', 'start', 'a')).stdout)?.[0] as string
    at.world.passSeconds(600)
    for (const verb of ['show', 'tasks', 'attempts', 'events', 'logs']) {
      const { code, stderr } = await at.servo('run', verb, run_id)
      expect({ verb, code, stderr }).toEqual({ verb, code: 4, stderr: expect.stringContaining(BEHIND) })
    }
    expect(await at.servo('run', 'cancel', run_id)).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^servo: Nothing was accepted: .* send the same again once an automation runs\./),
    })
  })

  test.each([
    ['start --wait', HINT],
    ['watch', BEHIND],
  ])(
    'is waited for by %s beyond what the API previews, which says once that none has, and that no automation is at work',
    async (verb, hint) => {
      at.world.holdTurns()
      let args = ['run', 'start', 'a', '--wait']
      if (verb === 'watch') {
        args = ['run', 'watch', RUN_ID.exec((await at.servo('run', 'start', 'a')).stdout)?.[0] as string]
        at.world.passSeconds(600)
      }
      const command = await watching(args, verb === 'watch' ? () => true : afterAppend(Number.POSITIVE_INFINITY), undefined, DEGRADED)
      await command.looked(12)
      const { code, stdout, stderr } = await worked(command)
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/Run run_\w+ SUCCEEDED in/) })
      expect(stderr.split(hint)).toHaveLength(2)
      expect(stderr.split('No automation is at work. No turn has come for 62 s.')).toHaveLength(2)
      for (const text of ['asked again until it answers', 'The API answers again']) expect(stderr).not.toContain(text)
    },
  )

  test('is waited for by cancel --wait, beyond what the API previews', async () => {
    at.world.holdTurns()
    const run_id = RUN_ID.exec((await at.servo('run', 'start', 'a')).stdout)?.[0] as string
    // The cancel is accepted by the preview, which is over when the command begins to wait.
    at.world.passSeconds(50)
    const command = await watching(['run', 'cancel', run_id, '--wait'], afterAppend(Number.POSITIVE_INFINITY))
    await command.looked(12)
    const { code, stderr } = await worked(command)
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/1 run is over after .*: 1 CANCELLED\.$/) })
    expect(stderr.split(HINT)).toHaveLength(2)
    expect(stderr).not.toMatch(/does not have it|asked again until it answers/)
  })

  test('that is not there, and was accepted by nobody, is an error of show and watch alike', async () => {
    const run_id = `run_${'a'.repeat(26)}`
    for (const verb of ['show', 'watch']) {
      expect(await at.servo('run', verb, run_id)).toMatchObject({ code: 1, stderr: expect.stringContaining(`There is no run ${run_id}`) })
    }
  })
})

test('a run that is refused when it is taken up at last ends the wait with the reason', async () => {
  const refused = { kind: 'refused', sequence: 1, event_id: null, reason: 'RUN_KEY_CONFLICT', detail: { run_id: 'run_other' } }
  const between = await startBetween(at.url, async (url, method) => {
    if (method === 'POST') return { status: 202, body: ACCEPTED }
    return url.includes('/outcomes') ? { status: 200, body: { outcome: refused } } : undefined
  })
  const finished = await startServo(['run', 'start', 'a', '--wait', '--api', between.url]).finished
  between.close()
  expect(finished).toMatchObject({ code: 1, stderr: expect.stringContaining('was refused: RUN_KEY_CONFLICT. {"run_id":"run_other"}') })
})

test('a request whose answer is lost is not said to have failed', async () => {
  const server = createServer((request) => request.on('data', () => request.socket.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const finished = await startServo(['run', 'start', 'a', '--wait', '--api', url]).finished
  server.close()
  expect(finished).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('It may have accepted it all the same: look before you ask again.'),
  })
})

const ACCEPTED = {
  run_id: `run_${'b'.repeat(26)}`,
  run_key: 'user:1',
  accepted_event_id: '01JHMPFN9C4W8R2T6Y0B3D5F7H',
  asset_count: 1,
  outcome: { kind: 'pending' },
}

describe('a change that no turn has taken up', () => {
  const module = `export default defineCodeLocation({ name: 'other', assets: [asset({ key: 'other', deps: [], run: async () => ({}) })] })`

  test.each<[string, () => readonly string[], string]>([
    ['pool set', () => ['pool', 'set', 'pool:warehouse', '3', '--wait'], 'pool:warehouse takes at most 3 at once, from the next turn on.'],
    ['schedule pause', () => ['schedule', 'pause', 'yearly', '--wait'], 'yearly is paused, from the next turn on.'],
    ['schedule create', () => ['schedule', 'create', 'other', ...SCHEDULE, '--wait'], 'other is made, from the next turn on.'],
    ['retention', () => ['workspace', 'retention', '--refusals-days', '20', '--wait'], 'refusals_days is 20, from the next turn on.'],
    ['deploy', () => ['deploy', at.module(module)], 'The deploy of other is accepted.'],
  ])('ends %s with exit code 4, and holds later', async (_, args, line) => {
    at.world.holdTurns()
    const finished = await whileNobodyTurns(at.servo(...args()))
    expect(finished).toMatchObject({ code: 4, stderr: expect.stringMatching(new RegExp(`servo: ${HINT}`)) })
    expect(finished.stdout.split('\n').at(-1)).toBe(line)
    at.world.releaseTurns()
    await at.world.turn.run()
  })

  test('is answered to programs with its outcome, and the same exit code', async () => {
    at.world.holdTurns()
    const { code, stdout } = await whileNobodyTurns(at.servo('pool', 'set', 'pool:warehouse', '5', '--wait', '--json'))
    expect([code, JSON.parse(stdout)]).toMatchObject([4, { pool_key: 'pool:warehouse', outcome: { kind: 'pending' } }])
  })

  test('is waited for longer than one answer of the API takes', async () => {
    at.world.holdTurns()
    let questions = 0
    const between = await startBetween(at.url, async (url) => {
      if (!url.includes('/outcomes')) return
      questions += 1
      if (questions === 2) at.world.releaseTurns()
    })
    const finished = await whileNobodyTurns(
      startServo(['pool', 'set', 'pool:warehouse', '7', '--wait', '--api', between.url]).finished,
      () => questions < 2,
    )
    between.close()
    expect(finished).toMatchObject({ code: 0, stdout: 'pool:warehouse takes at most 7 at once, from now on.' })
    expect(finished.stderr).not.toContain(HINT)
  })
})
