// Everything that decides is away for longer than any worker may be silent. Nobody's attempt is given up for that: what goes on
// meanwhile goes on, and only a worker that is gone too has lost what it ran. And a worker that was away itself learns that
// its attempt is over.

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { TURN_GAP_MS_MAX } from '../../src/core/limits.js'
import type { Part } from '../fixtures/system.js'
import { until } from '../fixtures/until.js'
import { lastWords } from './asking.js'
import { type Patient, startPatient } from './patient.js'
import { readStore, storeProblems } from './side-effects.js'

const TIMEOUT_MS = 240_000
/** A worker that beats each second is heard within it, on a machine that is busy with something else. */
const OVER_MS_MAX = 100_000
const ASSET = 'patient.beats'
const DECIDERS = ['automation', 'api'] as const

let patient: Patient
beforeAll(async () => {
  patient = await startPatient()
}, TIMEOUT_MS)
afterAll(() => patient?.stop(), TIMEOUT_MS)

async function explained(body: () => Promise<void>): Promise<void> {
  try {
    await body()
  } catch (error) {
    throw new Error(`${String(error)}\n${lastWords(patient.system)}`, { cause: error })
  }
}

/** Runs, and was heard of: its deadline lies in its row. */
async function running(): Promise<string> {
  patient.hold()
  const run_id = await patient.request(ASSET)
  await patient.untilStarted(run_id)
  await until('its start is folded', async () => (await patient.task(run_id, ASSET)).heartbeat_deadline_at !== null)
  return run_id
}

const deadlineOf = async (run_id: string): Promise<number> => Date.parse((await patient.task(run_id, ASSET)).heartbeat_deadline_at ?? '')

/** Longer than a turn may be late without anybody being held back for it. */
const LONG_MS = TURN_GAP_MS_MAX + 2_000
const untilPast = (deadline_at: number, by_ms = LONG_MS) =>
  until('the deadline is long past', () => Date.now() > deadline_at + by_ms, OVER_MS_MAX)

const lossesOf = async (run_id: string) =>
  (await readStore(patient.system)).events.flatMap((event) =>
    event.event_type === 'AttemptLost' && event.payload.run_id === run_id ? [event.payload.reason] : [],
  )

test.each<[string, readonly (Part | 'temporal')[], number]>([
  // Turns go on meanwhile, and are punctual.
  ['the API alone is', ['api'], 3_000],
  ['the automation alone is', ['automation'], LONG_MS],
  ['everything but its worker is', ['temporal', 'automation', 'api'], LONG_MS],
])(
  'a task goes on while %s away for longer than its heartbeat timeout, and ends as if nothing had been',
  (_, parts, by_ms) =>
    explained(async () => {
      const run_id = await running()
      const deadline_at = await deadlineOf(run_id)
      await Promise.all(parts.map((part) => patient.system.kill(part)))
      await untilPast(deadline_at, by_ms)
      for (const part of parts) await patient.system.start(part)
      await until('it is heard again', async () => (await deadlineOf(run_id)) > Date.now(), OVER_MS_MAX)
      patient.release()
      await patient.untilState(run_id, 'SUCCEEDED', OVER_MS_MAX)
      expect(await patient.task(run_id, ASSET)).toMatchObject({ attempt: 1, failures: 0, infra_losses: 0 })
      expect(await lossesOf(run_id)).toEqual([])
    }),
  TIMEOUT_MS,
)

test(
  'a task whose worker was away with everything else is tried again, and that is no failure of its code',
  () =>
    explained(async () => {
      const run_id = await running()
      const deadline_at = await deadlineOf(run_id)
      await Promise.all([...DECIDERS, 'worker' as const, 'temporal' as const].map((part) => patient.system.kill(part)))
      await untilPast(deadline_at)
      for (const part of ['temporal', ...DECIDERS, 'worker'] as const) await patient.system.start(part)
      await patient.untilStarted(run_id, 2)
      patient.release()
      await patient.untilState(run_id, 'SUCCEEDED', OVER_MS_MAX)
      expect(await patient.task(run_id, ASSET)).toMatchObject({ attempt: 2, failures: 0, infra_losses: 1 })
      expect(await lossesOf(run_id)).toEqual(['HEARTBEAT'])
    }),
  TIMEOUT_MS,
)

test(
  'a worker that comes back after its attempt was given up is told to stop, and what it says of it is refused',
  () =>
    explained(async () => {
      const run_id = await running()
      const first = await patient.untilStarted(run_id)
      patient.system.pause('worker')
      await until('the attempt is given up', async () => (await lossesOf(run_id)).length > 0, OVER_MS_MAX)
      patient.system.goOn('worker')
      const stopped = await until('the code is told to stop', () =>
        patient.notes().find(({ what, attempt_id }) => what === 'stop' && attempt_id === first.attempt_id),
      )
      expect(stopped.reason).toContain('The attempt is not this one any more')
      await patient.untilStarted(run_id, 2)
      patient.release()
      await patient.untilState(run_id, 'SUCCEEDED', OVER_MS_MAX)
      expect(await patient.task(run_id, ASSET)).toMatchObject({ attempt: 2, failures: 0, infra_losses: 1 })
      const { events, applied } = await readStore(patient.system)
      const finished = events.flatMap((event) => (event.event_type === 'TaskFinished' && event.payload.run_id === run_id ? [event] : []))
      expect(finished.filter(({ event_id }) => applied.has(event_id)).map(({ payload }) => payload.attempt)).toEqual([2])
      for (const part of ['worker', ...DECIDERS, 'temporal'] as const) await patient.system.kill(part)
      expect(await storeProblems(patient.system)).toEqual([[], []])
    }),
  TIMEOUT_MS,
)
