// As many tasks as before, where some fail and are tried again, some take long enough to beat, and pools and caps of tags
// say how many may run.

import { setTimeout as sleep } from 'node:timers/promises'
import { asset } from '../../src/sdk/asset.js'
import type { Asset } from '../../src/sdk/dependency.js'
import { createSpeaker } from '../../test/fixtures/say.js'
import { startServo } from '../../test/fixtures/servo-process.js'
import type { Report } from '../report.js'
import type { Measured } from '../run/system.js'
import { measureThroughput } from '../run/throughput.js'
import type { SuiteOptions } from '../truth/options.js'

const SLOTS = 256
/** Of so many attempts one fails at first, and of so many one beats. */
const FAILS_EVERY = 50
const BEATS_EVERY = 100
const HEARTBEAT_SECONDS = 3
/** Longer than one beat, which comes a third of the timeout after the start. */
const BEATS_MS = 1_200

const TEAMS = ['core', 'growth']
const CAPS = { 'pool:half': 128, 'tag:team': 160, global: 240 } as const

export async function measureTasks(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const counts = { failed: 0, beaten: 0 }
  await measureThroughput(report, {
    name: 'tasks_per_s',
    target: '>= 250',
    slots: SLOTS,
    is_quick,
    make: (key, deps, index) => limited(key, deps, index, counts),
    prepare: defineCaps,
    request: (run) => ({ tags: { team: TEAMS[run % TEAMS.length] } }),
    with:
      `one task in ${FAILS_EVERY} fails once and is tried again at once, one in ${BEATS_EVERY} runs for ${BEATS_MS / 1_000} s and beats; ` +
      `at most ${CAPS.global} tasks, ${CAPS['pool:half']} of every other asset, and ${CAPS['tag:team']} of each of ${TEAMS.length} values of a tag`,
  })
  if (counts.failed === 0 || counts.beaten === 0) throw new Error('Nothing failed, or nothing took its time.')
}

function limited(key: string, deps: readonly string[], index: number, counts: { failed: number; beaten: number }): Asset {
  let runs = 0
  return asset({
    key,
    deps,
    heartbeat_timeout_seconds: HEARTBEAT_SECONDS,
    timeout_seconds: 60,
    retry: { max_attempts: 3, backoff_seconds: 0, jitter: 0 },
    ...(index % 2 === 0 ? { pools: ['half'] } : {}),
    run: async ({ attempt, signal }) => {
      // Every asset counts for itself and begins elsewhere, so that not all tasks of one run are chosen.
      const place = attempt === 1 ? index * 7 + runs++ : 1
      if (place % FAILS_EVERY === 0) {
        counts.failed += 1
        throw new Error('It fails once.')
      }
      if (place % BEATS_EVERY !== 1 || attempt > 1) return
      counts.beaten += 1
      await sleep(BEATS_MS, undefined, { signal })
    },
  })
}

/** Appended as facts, as any client of the ledger may. */
async function defineCaps({ store }: Measured): Promise<void> {
  const speaker = createSpeaker()
  const scope = { tenant_id: 'default', workspace_id: 'default' }
  const lines = Object.entries(CAPS).map(([pool_key, cap]) => ({ ...speaker.poolDefined(pool_key, cap, { at: Date.now() }), ...scope }))
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const { code, stderr } = await startServo(['ledger', 'append', '--file', '-', '--store', store], {}, text).finished
  if (code !== 0) throw new Error(`The caps were not appended: ${stderr}`)
}
