// A worker is killed while its attempts run: how long until each of them is tried again by another worker.

import { setTimeout as sleep } from 'node:timers/promises'
import { untilSeen } from '../../test/fixtures/until.js'
import { median, type Report } from '../report.js'
import type { SuiteOptions } from '../truth/options.js'
import { HEARTBEAT_SECONDS } from './location.js'
import { type Served, type WorkerChild, withServed } from './served.js'

/** One beat comes a third of the timeout after the other: attempts that start so far apart are killed at all ages of a beat. */
const ATTEMPTS = 8
const BEAT_MS = (HEARTBEAT_SECONDS * 1_000) / 3
const APART_MS = BEAT_MS / ATTEMPTS
const DETECTED_WITHIN_MS = 60_000
const SLOTS = 16

export async function measureDeadWorker(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const kills = is_quick ? 1 : 3
  await withServed(SLOTS, async (served) => {
    const seconds: number[] = []
    for (let i = 0; i < kills; i++) seconds.push(...(await killOne(served, await served.startWorker(), await served.startWorker())))
    const setup = `${kills} kills with ${ATTEMPTS} attempts running, beats of all ages; heartbeat timeout ${HEARTBEAT_SECONDS} s, retry delay 0; local store with fsync`
    report.add({ name: 'dead_worker_detect_s', value: median(seconds), unit: 's', target: '<= 15', setup: `${setup}; median` })
    report.add({ name: 'dead_worker_detect_max_s', value: Math.max(...seconds), unit: 's', target: '-', setup: 'the slowest of them' })
  })
}

async function killOne(served: Served, dying: WorkerChild, other: WorkerChild): Promise<readonly number[]> {
  served.sendTo([dying, other])
  const run_ids: string[] = []
  for (let i = 0; i < ATTEMPTS; i++) {
    run_ids.push(await served.request(['lasting']))
    await sleep(APART_MS)
  }
  const startsOf = async (attempt: number) =>
    (await served.starts()).filter((start) => start.attempt === attempt && run_ids.includes(start.run_id))
  await untilSeen('all attempts run', async () => (await startsOf(1)).length === ATTEMPTS)
  // Each has said at least one beat.
  await sleep(2 * BEAT_MS)
  await dying.kill()
  const killed_at = Date.now()
  const again = await untilSeen(
    'all are tried again',
    async () => {
      const starts = await startsOf(2)
      return starts.length === ATTEMPTS ? starts : undefined
    },
    DETECTED_WITHIN_MS,
  )
  for (const run_id of run_ids) await served.untilOver(run_id)
  return again.map(({ at }) => (at - killed_at) / 1_000)
}
