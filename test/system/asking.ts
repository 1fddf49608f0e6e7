// Asks for runs as a client does that has to live with an API that is down at times: with a key of its own for each run,
// and the same again until there is an answer.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ApiError } from '../../src/cli/client.js'
import { describeLocation } from '../../src/sdk/definition.js'
import { GROUPS, location } from '../fixtures/system-location.js'
import type { System } from '../fixtures/system.js'
import { until } from '../fixtures/until.js'
import type { Asked } from './side-effects.js'

export const EFFECTS_FILE = 'effects.ndjson'
export const MODULE = new URL('../fixtures/system-location.ts', import.meta.url).pathname

type RunAnswer = { readonly run_id: string; readonly state: string }

const SLOTS = 16
/** Longer than any part takes to come back. */
const ANSWER_MS_MAX = 90_000

export async function deployLocation({ client, worker_url }: System): Promise<void> {
  const { assets } = describeLocation({ name: location.name, assets: location.assets })
  const body = { worker_url, slots: SLOTS, assets: assets.map(({ definition }) => definition) }
  await client.post(`/code-locations/${location.name}/deploy`, body)
  await until('the assets are defined', async () => (await client.get<{ assets: readonly unknown[] }>('/assets')).assets.length > 0)
}

/** The API may be gone before, while or after it takes the request: the key makes it one run all the same. */
export async function askForRun({ client }: System, number: number): Promise<Asked> {
  const group = number % 2 === 0 ? 'chain' : 'fan'
  const run_key = `run-${number}`
  const { run_id } = await until(
    `the API takes ${run_key}`,
    () => client.post<RunAnswer>('/runs', { selection: `group:${group}`, run_key }).catch(unlessRefused),
    ANSWER_MS_MAX,
  )
  return { run_key, run_id, tasks: GROUPS[group] }
}

/** What the API understood and said no to gets no better by asking again. */
function unlessRefused(error: unknown): undefined {
  if (error instanceof ApiError && error.problem.status < 500 && error.problem.status !== 429) {
    throw new Error(`The API refused a run: ${error.message}`)
  }
  return undefined
}

export async function untilAllOver(system: System, asked: readonly Asked[], wait_ms_max: number): Promise<void> {
  await until(
    `${asked.length} runs are over`,
    async () => {
      const { runs } = await system.client.get<{ runs: readonly RunAnswer[] }>('/runs', { limit: 1, state: 'RUNNING' })
      if (runs.length > 0) return false
      const states = await Promise.all(asked.map(({ run_id }) => system.client.get<RunAnswer>(`/runs/${run_id}`)))
      return states.every(({ state }) => ['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(state))
    },
    wait_ms_max,
  )
}

/** For whoever reads that a test failed: what the processes said last. */
export function lastWords({ folder }: System): string {
  return ['automation', 'api', 'worker', 'temporal']
    .map((part) => {
      const lines = readFileSync(join(folder, `${part}.log`), 'utf8')
        .trim()
        .split('\n')
      return [`--- ${part}, ${lines.length} lines`, ...lines.slice(-15)].join('\n')
    })
    .join('\n')
}
