// Many runs that wait for room are cancelled by one command, until the last of them is over.

import { setTimeout as sleep } from 'node:timers/promises'
import { asset } from '../../src/sdk/asset.js'
import { startServo } from '../../test/fixtures/servo-process.js'
import { untilSeen } from '../../test/fixtures/until.js'
import { median, type Report } from '../report.js'
import { type Measured, withSystem } from '../run/system.js'
import type { SuiteOptions } from '../truth/options.js'

const SLOTS = 4
const RUNS_AT_ONCE = 50
const OVER_WITHIN_MS = 120_000
const HELD_MS = 3_600_000

export async function measureCancel(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const [count, rounds] = is_quick ? [50, 1] : [500, 3]
  const queued = asset({ key: 'queued', deps: [], run: async () => undefined })
  const held = asset({ key: 'held', deps: [], run: ({ signal }) => sleep(HELD_MS, undefined, { signal }) })
  await withSystem([queued, held], SLOTS, async (system) => {
    for (let i = 0; i < SLOTS; i++) await system.request(['held'])
    await untilSeen('all slots are taken', async () => (await countOf(system, 'held', 'RUNNING')) === SLOTS)
    const seconds: number[] = []
    for (let i = 1; i <= rounds; i++) seconds.push(await cancelAll(system, count, i * count))
    const setup = `${count} runs of one task that wait for a slot, \`servo run cancel --asset queued --yes\` from its start; ${rounds} rounds, median; local store with fsync`
    report.add({ name: 'cancel_500_s', value: median(seconds), unit: 's', target: '<= 5', setup })
  })
}

async function cancelAll(system: Measured, count: number, cancelled_count: number): Promise<number> {
  for (let asked = 0; asked < count; asked += RUNS_AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(RUNS_AT_ONCE, count - asked) }, () => system.request(['queued'])))
  }
  await untilSeen('all of them wait', async () => (await countOf(system, 'queued', 'PLANNED')) === count)
  const began = performance.now()
  const api = system.environment['SERVO_API_URL'] as string
  const command = await startServo(['run', 'cancel', '--asset', 'queued', '--yes', '--api', api]).finished
  if (command.code !== 0) throw new Error(`The command ended with ${command.code}: ${command.stderr}`)
  await untilSeen('the last one is over', () => isNoneOpen(system), OVER_WITHIN_MS)
  const seconds = (performance.now() - began) / 1_000
  // The first run was there before, and succeeded.
  const found = await countOf(system, 'queued', 'CANCELLED')
  if (found !== cancelled_count) throw new Error(`${found} of ${cancelled_count} runs are cancelled.`)
  return seconds
}

type RunPage = { readonly runs: readonly object[]; readonly next_cursor: string | null }

const OPEN = ['PENDING', 'PLANNED', 'RUNNING', 'CANCELLING']
const PAGE_ROWS = 100

async function isNoneOpen({ client }: Measured): Promise<boolean> {
  for (const state of OPEN) {
    if ((await client.get<RunPage>('/runs', { asset: 'queued', state, limit: 1 })).runs.length > 0) return false
  }
  return true
}

async function countOf({ client }: Measured, asset_key: string, state: string): Promise<number> {
  let count = 0
  let cursor: string | undefined
  do {
    const query = { asset: asset_key, state, limit: PAGE_ROWS, ...(cursor === undefined ? {} : { cursor }) }
    const page = await client.get<RunPage>('/runs', query)
    count += page.runs.length
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return count
}
