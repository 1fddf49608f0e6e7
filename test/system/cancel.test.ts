// How long a cancelled run takes to be over, in each state that its task can be in: docs/concepts.md says it, with the bounds
// that are checked here. SERVO_CANCEL_TALK=1 prints what it took.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { until } from '../fixtures/until.js'
import { lastWords } from './asking.js'
import { type Patient, startPatient } from './patient.js'

const TIMEOUT_MS = 240_000
/** Of the assets whose code does not stop, or cannot. */
const GRACE_MS = 3_000
/** For a machine that is busy with something else; far below the 20 s between two heartbeats, and the 30 s of a grace. */
const SOON_MS = 10_000
const QUEUED = 40
const isTalking = process.env['SERVO_CANCEL_TALK'] === '1'

let patient: Patient
beforeAll(async () => {
  patient = await startPatient()
}, TIMEOUT_MS)
afterAll(() => patient?.stop(), TIMEOUT_MS)

const cancel = (run_id: string) => patient.system.client.post(`/runs/${run_id}/cancel`, {})

/** From the cancel until the last of them is over. */
async function timed(what: string, ask: () => Promise<unknown>, run_ids: readonly string[]): Promise<number> {
  const began = performance.now()
  await ask()
  for (const run_id of run_ids) await patient.untilState(run_id, 'CANCELLED')
  const took_ms = performance.now() - began
  if (isTalking) process.stderr.write(`${what}: ${Math.round(took_ms)} ms\n`)
  return took_ms
}

async function explained(body: () => Promise<void>): Promise<void> {
  try {
    await body()
  } catch (error) {
    throw new Error(`${String(error)}\n${lastWords(patient.system)}`, { cause: error })
  }
}

const started = async (asset_key: string): Promise<string> => {
  const run_id = await patient.request(asset_key)
  await patient.untilStarted(run_id)
  return run_id
}

test(
  'code that heeds its signal is told long before its next heartbeat, and the run is over soon',
  () =>
    explained(async () => {
      const run_id = await started('patient.heeds')
      expect(await timed('running, stops', () => cancel(run_id), [run_id])).toBeLessThan(SOON_MS)
      expect(await patient.task(run_id, 'patient.heeds')).toMatchObject({ state: 'CANCELLED', outcome_reason: 'WORKER_CANCELLED' })
      const [stopped] = patient.notes().filter((note) => note.run_id === run_id && note.what === 'stop')
      expect(stopped?.reason).toContain('The run was cancelled')
    }),
  TIMEOUT_MS,
)

test(
  'code that does not stop keeps its run open for the grace, and no longer',
  () =>
    explained(async () => {
      const run_id = await started('patient.deaf')
      const took_ms = await timed('running, deaf', () => cancel(run_id), [run_id])
      // A turn's time has whole seconds.
      expect(took_ms).toBeGreaterThan(GRACE_MS - 1_000)
      expect(took_ms).toBeLessThan(GRACE_MS + SOON_MS)
      expect(await patient.task(run_id, 'patient.deaf')).toMatchObject({ state: 'CANCELLED', outcome_reason: 'CANCEL_GRACE' })
      patient.release()
      await until('the code ended', () => patient.notes().some((note) => note.run_id === run_id && note.what === 'end'))
      patient.hold()
    }),
  TIMEOUT_MS,
)

test(
  'runs that wait for room are cancelled by one command, and over with it',
  () =>
    explained(async () => {
      const running = [await started('patient.heeds'), await started('patient.heeds')]
      const queued = await Promise.all(Array.from({ length: QUEUED }, () => patient.request('patient.heeds', { batch: 'queued' })))
      const ask = () => patient.system.client.post('/runs/cancel', { filter: { tag: 'batch=queued' } })
      expect(await timed(`${QUEUED} queued`, ask, queued)).toBeLessThan(SOON_MS)
      expect(patient.notes().filter(({ run_id }) => queued.includes(run_id))).toEqual([])
      await timed('two running', () => Promise.all(running.map(cancel)), running)
    }),
  TIMEOUT_MS,
)

test(
  'a run whose worker died is over with the grace, and one that was dispatched to nobody at once',
  () =>
    explained(async () => {
      const run_id = await started('patient.heeds')
      await patient.system.kill('worker')
      const out = await patient.request('patient.deaf')
      await until('it is dispatched', async () => (await patient.task(out, 'patient.deaf')).state === 'DISPATCHED')
      expect(await timed('dispatched', () => cancel(out), [out])).toBeLessThan(SOON_MS)
      expect(await patient.task(out, 'patient.deaf')).toMatchObject({ state: 'CANCELLED', outcome_reason: 'RUN_CANCELLED', attempt: 1 })
      const took_ms = await timed('worker gone', () => cancel(run_id), [run_id])
      expect(took_ms).toBeLessThan(GRACE_MS + SOON_MS)
      await patient.system.start('worker')
      // The slots of all of them are free again, and none of them runs.
      const other = await started('patient.heeds')
      expect(patient.notes().filter((note) => note.run_id === out)).toEqual([])
      await timed('running, stops', () => cancel(other), [other])
    }),
  TIMEOUT_MS,
)

test('the page about it says the bounds that were checked', () => {
  const page = readFileSync(new URL('../../docs/concepts.md', import.meta.url), 'utf8')
  const held_s = /observations; the test holds each of these ends to (\d+) s/.exec(page.replaceAll('\n', ' '))?.[1]
  expect(Number(held_s) * 1_000).toBe(SOON_MS)
})
