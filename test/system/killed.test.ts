// Every part of a real system is killed in turn, again and again, while runs are asked for: nothing is lost, nothing is done
// twice, and the tables are what the ledger says.

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createRandom, type Random } from '../fixtures/random.js'
import type { Part, System } from '../fixtures/system.js'
import { until } from '../fixtures/until.js'
import { askForRun, lastWords, startWatched, untilAllOver, type Watched } from './asking.js'
import { type Asked, expectOnceEach, expectSound, readEffects, readStore, startsIn } from './side-effects.js'

const RUNS = Number(process.env['SERVO_CHAOS_RUNS'] ?? 200)
const ROUNDS = Number(process.env['SERVO_CHAOS_ROUNDS'] ?? 2)
const seed = Number(process.env['SERVO_SEED'] ?? Date.now() % 1_000_000)
const replayCommand = `SERVO_SEED=${seed} NODE_OPTIONS=--experimental-vm-modules npx jest test/system/killed`

/** Says each kill as it happens. */
const isTalking = process.env['SERVO_CHAOS_TALK'] === '1'

const PARTS: readonly (Part | 'temporal')[] = ['worker', 'api', 'automation', 'temporal']
/** How many kills take a second part with them. */
const PAIRS = 0.25
const TASKS_PER_RUN_MIN = 3
/** Runs that may be open at a time: the last ones are asked for while the last kills happen. */
const RUNS_AHEAD = 40
/** On a machine that is busy with something else: alone it takes a minute. */
const TIMEOUT_MS = 600_000
const OVER_MS_MAX = 240_000

let watched: Watched
let system: System
let effects = ''
beforeAll(async () => {
  // At once, and past jest, which keeps what a test logs until it ends.
  process.stderr.write(`note: kills drawn by SERVO_SEED=${seed}; the same ones again: ${replayCommand}\n`)
  watched = await startWatched({ SERVO_SEED: String(seed) })
  ;({ system, effects } = watched)
}, TIMEOUT_MS)
afterAll(() => watched?.stop(), TIMEOUT_MS)

test(
  `${RUNS} runs survive the death of every part, ${ROUNDS} times each, and each attempt runs once`,
  async () => {
    const random = createRandom(seed)
    try {
      const asked = (await Promise.all([askForAll(), killInTurn(random)]))[0]
      await untilAllOver(system, asked, OVER_MS_MAX)
      for (const part of PARTS) await system.kill(part)
      const told = await readStore(system.store)
      expectOnceEach(asked, told, readEffects(effects))
      expect(told.runs.length).toBe(RUNS)
      await expectSound(system.store)
    } catch (error) {
      throw new Error(`With SERVO_SEED=${seed}: ${String(error)}\nAgain: ${replayCommand}\n${lastWords(system)}`, { cause: error })
    }
  },
  TIMEOUT_MS,
)

/** The next runs are asked for when those before them have got somewhere, so that there is work under way at every kill. */
async function askForAll(): Promise<readonly Asked[]> {
  const asked: Asked[] = []
  for (let number = 0; number < RUNS; number += 4) {
    const enough = Math.max(0, number - RUNS_AHEAD) * TASKS_PER_RUN_MIN
    await until(`${enough} attempts have started`, () => startsIn(readEffects(effects)).length >= enough, OVER_MS_MAX)
    const few = Array.from({ length: Math.min(4, RUNS - number) }, (_, i) => askForRun(system, number + i))
    asked.push(...(await Promise.all(few)))
  }
  return asked
}

/** Each round has another order. Most die alone, some with the next one, and all are there again before others are killed. */
async function killInTurn(random: Random): Promise<void> {
  const order = Array.from({ length: ROUNDS }, () => shuffled(PARTS, random)).flat()
  const every = Math.floor((RUNS * TASKS_PER_RUN_MIN) / (order.length + 1))
  for (let i = 0; i < order.length; ) {
    const due = i * every + random.below(every)
    const dying = [...new Set(order.slice(i, i + (random.isTrue(PAIRS) ? 2 : 1)))]
    i += dying.length
    await until(`${due} attempts have started`, () => startsIn(readEffects(effects)).length >= due, OVER_MS_MAX)
    const began = performance.now()
    await Promise.all(dying.map((part) => system.kill(part)))
    // The automation needs Temporal in order to start.
    if (dying.includes('temporal')) await system.start('temporal')
    for (const part of dying) if (part !== 'temporal') await system.start(part)
    const seconds = ((performance.now() - began) / 1_000).toFixed(1)
    if (isTalking)
      process.stderr.write(`${new Date().toISOString()} ${dying.join(', ')} killed at ${due} starts, back after ${seconds} s\n`)
  }
}

function shuffled<T>(values: readonly T[], random: Random): readonly T[] {
  const rest = [...values]
  return values.map(() => rest.splice(random.below(rest.length), 1)[0] as T)
}
