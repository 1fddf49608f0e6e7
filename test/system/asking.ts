// Asks for runs as a client does that has to live with an API that is down at times: with a key of its own for each run,
// and the same again until there is an answer.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiError } from '../../src/cli/client.js'
import { describeLocation } from '../../src/sdk/definition.js'
import { type System, startSystem } from '../fixtures/system.js'
import { EFFECTS_VARIABLE, GROUPS, location } from '../fixtures/system-location.js'
import { until } from '../fixtures/until.js'
import type { Asked } from './side-effects.js'

const EFFECTS_FILE = 'effects.ndjson'
const MODULE = new URL('../fixtures/system-location.ts', import.meta.url).pathname

type RunAnswer = { readonly run_id: string; readonly state: string }

const SLOTS = 16
/** Longer than any part takes to come back. */
const ANSWER_MS_MAX = 90_000

export type Watched = { readonly system: System; readonly effects: string; readonly stop: () => Promise<void> }

/** A system with its location deployed, whose tasks write what they do into a file outside of it. */
export async function startWatched(environment: Readonly<Record<string, string>> = {}): Promise<Watched> {
  const folder = mkdtempSync(join(tmpdir(), 'servo-watched-'))
  const effects = join(folder, EFFECTS_FILE)
  const system = await startSystem({
    module: MODULE,
    location_name: location.name,
    slots: SLOTS,
    with_temporal_file: true,
    environment: { [EFFECTS_VARIABLE]: effects, ...environment },
  })
  await deployLocation(system)
  return {
    system,
    effects,
    async stop() {
      await system.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function deployLocation({ client, worker_url }: System): Promise<void> {
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
