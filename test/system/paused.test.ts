// Processes that are paused and go on, with no idea that they were away: a turn that another automation has long made again,
// and code whose attempt was declared lost. Neither does anything twice.

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type ServoProcess, startServo } from '../fixtures/servo-process.js'
import type { System } from '../fixtures/system.js'
import { until } from '../fixtures/until.js'
import { askForRun, lastWords, startWatched, untilAllOver, type Watched } from './asking.js'
import { effectProblems } from './effect-problems.js'
import { readEffects, readStore, startsIn, storeProblems } from './side-effects.js'

const RUNS = 60
/** Attempts that have started when the first of two automations is paused. */
const STARTED_BEFORE = 25
/** And how many more there are before it goes on: the other one has taken over by then. */
const STARTED_MEANWHILE = 30
/** On a machine that is busy with something else. */
const TIMEOUT_MS = 300_000
const OVER_MS_MAX = 200_000

let watched: Watched
let system: System
let second: ServoProcess
let effects = ''
beforeAll(async () => {
  watched = await startWatched()
  ;({ system, effects } = watched)
  second = startServo(['automation'], system.environment)
}, TIMEOUT_MS)
afterAll(async () => {
  second?.stop('SIGKILL')
  await second?.finished
  await watched?.stop()
}, TIMEOUT_MS)

const starts = () => startsIn(readEffects(effects)).length
const lostCount = async () =>
  (await readStore({ store: system.store })).events.filter(({ event_type }) => event_type === 'AttemptLost').length

test(
  'two automations and a worker, each paused until others went on without it, do nothing twice',
  async () => {
    try {
      const asked = await Promise.all(Array.from({ length: RUNS }, (_, number) => askForRun(system, number)))
      await until('work is under way', () => starts() >= STARTED_BEFORE)
      system.pause('automation')
      await until('the other automation goes on', () => starts() >= STARTED_BEFORE + STARTED_MEANWHILE, OVER_MS_MAX)
      system.goOn('automation')
      await until('there is more work', () => starts() >= STARTED_BEFORE + 2 * STARTED_MEANWHILE, OVER_MS_MAX)
      const lost = await lostCount()
      system.pause('worker')
      await until('attempts are declared lost', async () => (await lostCount()) > lost, OVER_MS_MAX)
      system.goOn('worker')
      await untilAllOver(system, asked, OVER_MS_MAX)
      for (const part of ['automation', 'worker', 'api', 'temporal'] as const) await system.kill(part)
      second.stop('SIGKILL')
      await second.finished
      expect(effectProblems(asked, await readStore({ store: system.store }), readEffects(effects))).toEqual([])
      expect(await storeProblems({ store: system.store })).toEqual([[], []])
    } catch (error) {
      throw new Error(`${String(error)}\n${lastWords(system)}`, { cause: error })
    }
  },
  TIMEOUT_MS,
)
