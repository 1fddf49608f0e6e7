// Temporal only says when: with every process killed and Temporal's database gone, the ledger alone is enough to finish
// what was under way, once. And what the API accepted while Temporal was down is carried out when it is back.

import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { runServo } from '../fixtures/servo-process.js'
import type { System } from '../fixtures/system.js'
import { until } from '../fixtures/until.js'
import { askForRun, lastWords, startWatched, untilAllOver, type Watched } from './asking.js'
import { effectProblems } from './effect-problems.js'
import { type Asked, readEffects, readStore, startsIn, storeProblems } from './side-effects.js'

const RUNS_BEFORE = 30
const RUNS_MEANWHILE = 5
/** Attempts that have started when everything ends: work is under way, and more of it waits. */
const STARTED_BEFORE = 20
const PARTS = ['automation', 'api', 'worker'] as const
/** On a machine that is busy with something else. */
const TIMEOUT_MS = 300_000
const OVER_MS_MAX = 200_000

let watched: Watched
let system: System
let effects = ''
beforeAll(async () => {
  watched = await startWatched()
  ;({ system, effects } = watched)
}, TIMEOUT_MS)
afterAll(() => watched?.stop(), TIMEOUT_MS)

const asked: Asked[] = []
const starts = () => startsIn(readEffects(effects)).length

async function explained(body: () => Promise<void>): Promise<void> {
  try {
    await body()
  } catch (error) {
    throw new Error(`${String(error)}\n${lastWords(system)}`, { cause: error })
  }
}

async function ask(count: number): Promise<void> {
  const first = asked.length
  asked.push(...(await Promise.all(Array.from({ length: count }, (_, i) => askForRun(system, first + i)))))
}

test(
  'what was under way is finished, and not done twice, after everything was killed and Temporal was wiped',
  () =>
    explained(async () => {
      await ask(RUNS_BEFORE)
      await until('work is under way', () => starts() >= STARTED_BEFORE)
      await Promise.all([...PARTS, 'temporal' as const].map((part) => system.kill(part)))
      const before = starts()
      await system.wipeTemporal()
      for (const part of PARTS) await system.start(part)
      await untilAllOver(system, asked, OVER_MS_MAX)
      expect(starts()).toBeGreaterThan(before)
    }),
  TIMEOUT_MS,
)

test(
  'what is asked for while Temporal is down is accepted, and carried out when Temporal is back',
  () =>
    explained(async () => {
      await system.kill('temporal')
      const before = starts()
      await ask(RUNS_MEANWHILE)
      const run_ids = asked.slice(-RUNS_MEANWHILE).map(({ run_id }) => run_id)
      expect(readEffects(effects).filter(({ run_id }) => run_ids.includes(run_id))).toEqual([])
      await system.start('temporal')
      await untilAllOver(system, asked, OVER_MS_MAX)
      expect(starts()).toBeGreaterThan(before)
    }),
  TIMEOUT_MS,
)

test(
  'a Temporal that comes back empty under a running automation gets its loops again',
  () =>
    explained(async () => {
      await system.wipeTemporal()
      await ask(RUNS_MEANWHILE)
      await untilAllOver(system, asked, OVER_MS_MAX)
    }),
  TIMEOUT_MS,
)

test(
  'a workspace that is restored from a backup, under a Temporal that knows nothing, gets its loops and goes on',
  () =>
    explained(async () => {
      const backups = `local:${join(system.folder, 'backups')}`
      const workspace = (...args: readonly string[]) => runServo(['workspace', ...args, '--store', system.store])
      expect(await workspace('backup', '--to', backups)).toMatchObject({ code: 0 })
      await Promise.all([...PARTS, 'temporal' as const].map((part) => system.kill(part)))
      const folder = system.store.slice('local:'.length)
      renameSync(folder, `${folder}.lost`)
      expect(await workspace('restore', '--from', backups)).toMatchObject({ code: 0 })
      await system.wipeTemporal()
      for (const part of PARTS) await system.start(part)
      await ask(RUNS_MEANWHILE)
      await untilAllOver(system, asked, OVER_MS_MAX)
    }),
  TIMEOUT_MS,
)

test(
  'every run is there once, every attempt ran once, and the tables are what the ledger says',
  () =>
    explained(async () => {
      for (const part of [...PARTS, 'temporal' as const]) await system.kill(part)
      expect(effectProblems(asked, await readStore({ store: system.store }), readEffects(effects))).toEqual([])
      expect(await storeProblems({ store: system.store })).toEqual([[], []])
    }),
  TIMEOUT_MS,
)
