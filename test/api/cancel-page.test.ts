// What the documents say of how long a cancel takes, against the code: each bound is read from the page and compared, and a
// bound that nobody compares is a fault.

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { SWEEP_EVERY_MS, waitMs } from '../../src/activities/workspace.js'
import { CANCELLED_RUNS_MAX, CANCELS_PER_REQUEST_MAX } from '../../src/core/limits.js'
import { SECOND_MS } from '../../src/core/time.js'
import { POLICY_DEFAULTS } from '../../src/projections/plan.js'
import { type ApiWorld, type Asker, createApiWorld, createAsker, definition, dispatched, MAIN } from '../fixtures/api-world.js'
import { liveBlocks } from '../fixtures/live-blocks.js'
import { ulidOf } from '../fixtures/say.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(`${ROOT}${path}`, 'utf8')
const [, section = ''] = /^## How long a cancel takes\n([^]*?)^## /m.exec(read('docs/concepts.md')) ?? []
const rows = [...section.matchAll(/^\| (.+?) \| (.+?) \| (.+?) \|$/gm)].map(([, task = '', over = '']) => ({ task, over }))
const overOf = (task: string) => rows.find((row) => row.task === task)?.over

/** As the page writes them. */
const WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six']
const HEARTBEAT_MS = 60_000

describe('a cancelled run', () => {
  let world: ApiWorld
  let people: Asker

  beforeEach(async () => {
    world = createApiWorld({ port: { port: 'DIRECT', send: async (_, dispatches) => dispatches.map(() => ({ answer: 'BUSY' })) } })
    people = createAsker(await world.start())
    const patient = definition('a', { heartbeat_timeout_seconds: HEARTBEAT_MS / SECOND_MS })
    await people.post('/code-locations/main/deploy', { ...MAIN, assets: [patient], slots: 1 })
  })
  afterEach(() => world.close())

  const request = async (): Promise<string> => String((await people.post('/runs?wait=true', { selection: 'a' })).body['run_id'])
  const stateOf = async (run_id: string) => (await world.look('runs')).rows.find((row) => row['run_id'] === run_id)?.['state']
  /** Turns from the cancel until it is over. */
  async function turnsToEnd(run_id: string): Promise<number> {
    world.holdTurns()
    await people.post(`/runs/${run_id}/cancel`)
    for (let turns = 1; turns < WORDS.length; turns++) {
      await world.turn.run()
      await world.hand_over?.settled()
      if ((await stateOf(run_id)) === 'CANCELLED') return turns
    }
    throw new Error(`Run ${run_id} is ${String(await stateOf(run_id))} after ${WORDS.length - 1} turns.`)
  }

  test('is over after as many turns as the page says, queued and dispatched', async () => {
    const [out, queued] = [await request(), await request()]
    await world.turn.run()
    expect((await dispatched(world)).map(({ claims }) => claims.run_id)).toEqual([out])
    expect(overOf('queued')).toMatch(new RegExp(`^${WORDS[await turnsToEnd(queued)]} turn later, `))
    expect(overOf('dispatched')).toMatch(new RegExp(`^${WORDS[await turnsToEnd(out)]} turns later: `))
  })

  test('has its worker told with a heartbeat, of which the page says how far the next one is', async () => {
    await request()
    await world.turn.run()
    const [out] = await dispatched(world)
    if (out === undefined) throw new Error('Nothing was dispatched.')
    const started = await people.post(`${out.path}/started`, { ...out.said, execution_id: ulidOf('one'), worker_id: 'w1' }, out.headers)
    expect(started.body).toMatchObject({ heartbeat_interval_ms: HEARTBEAT_MS / 3 })
    expect(overOf('running')).toContain('with its next heartbeat, a third of `heartbeat_timeout_seconds` later at most')
  })
})

test('the grace that the pages say is the one that an asset has which says nothing', () => {
  const { cancel_grace_seconds } = POLICY_DEFAULTS
  expect(overOf('running, and its code does not stop')).toContain(`which is ${cancel_grace_seconds} s unless the asset says otherwise;`)
  expect(read('docs/writing-assets.md')).toContain(`| \`cancel_grace_seconds\` | ${cancel_grace_seconds} |`)
  expect(read('docs/writing-assets.md').replaceAll('\n  ', ' ')).toContain(`is closed ${cancel_grace_seconds} seconds later also`)
})

test('what comes after the grace is no more than the page says, whenever in a second the turn ends and the grace is over', () => {
  let [latest_ms, early] = [0, 0]
  for (let took_ms = 0; took_ms < 2_000; took_ms += 61) {
    for (let wake_in_ms = 2_000; wake_in_ms < 4_000; wake_in_ms += 37) {
      const turn_at = took_ms + (waitMs({ processed_at: 0, ended_at: took_ms, wake_in_ms }) ?? Number.NaN)
      // The turn's own time is floored to a second, and must not be before what is due.
      early += Math.floor(turn_at / SECOND_MS) * SECOND_MS < wake_in_ms ? 1 : 0
      latest_ms = Math.max(latest_ms, turn_at - wake_in_ms)
    }
  }
  expect(early).toBe(0)
  expect(overOf('running, and its code does not stop')).toContain(`within ${WORDS[Math.ceil(latest_ms / SECOND_MS)]} second more,`)
})

test('the sweep looks as often as the page says', () => {
  expect(section.replaceAll('\n', ' ')).toContain(`the sweep, which looks every ${WORDS[SWEEP_EVERY_MS / SECOND_MS]} seconds while`)
})

test('so many runs and attempts in one request as the pages say', () => {
  const number = new Intl.NumberFormat('en-US')
  expect(read('docs/api.md')).toContain(`\`POST /runs/cancel\` takes up to ${number.format(CANCELLED_RUNS_MAX)} open runs`)
  expect(read('docs/worker-openapi.json')).toContain(`to stop, up to ${number.format(CANCELS_PER_REQUEST_MAX)} in one request`)
})

/** In the order of the page. */
const COMPARED = [
  'one turn later',
  'two turns later',
  'a third of `heartbeat_timeout_seconds`',
  'which is 30 s unless',
  'within one second more',
  'looks every two seconds',
]
const NO_BOUNDS = ['leaves half done', 'with a 409']

test('the page states no bound that is not compared here', () => {
  // What was observed, and what that is held to, are those of test/system/cancel.test.ts, which compares them.
  const stated =
    rows.map(({ over }) => over).join(' ') + section.slice(section.lastIndexOf('|')).replace(/^The figures are[^]*?wait for\.$/m, '')
  const rest = [...COMPARED, ...NO_BOUNDS].reduce(
    (text, words) => {
      expect(text).toContain(words)
      return text.replace(words, '')
    },
    stated.replaceAll('\n', ' '),
  )
  expect(rest.match(/\b\d[\d.,]*\b|\b(?:two|three|four|five|ten|half|third|quarter)\b/g) ?? []).toEqual([])
})

test('every cancel that the documents write as a command is run', () => {
  const written = readdirSync(`${ROOT}docs`)
    .filter((name) => name.endsWith('.md'))
    .map((name) => ({ path: `docs/${name}`, text: read(`docs/${name}`) }))
  const isCancel = (line: string) => /\bservo run cancel\b|\/cancel\b/.test(line)
  const fenced = written.flatMap(({ text }) =>
    [...text.matchAll(/^```sh.*\n([^]*?)^```$/gm)].flatMap(([, body = '']) => body.split('\n').filter(isCancel)),
  )
  const run = written.flatMap(({ path, text }) => liveBlocks(path, text).flatMap(({ lines }) => lines.filter(isCancel)))
  expect(run.some((line) => line.includes('--tag')) && run.some((line) => line.includes('cancel last'))).toBe(true)
  expect(run).toEqual(fenced)
})
