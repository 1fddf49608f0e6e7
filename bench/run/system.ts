// The system that the benchmarks of runs measure: real processes, and a worker in this one, so that the moment in which
// user code starts is read from one clock.

import { systemClock, systemRandom } from '../../src/bin/clock.js'
import { readSecrets } from '../../src/bin/config.js'
import { defineCodeLocation } from '../../src/sdk/code-location.js'
import { describeLocation } from '../../src/sdk/definition.js'
import type { Asset } from '../../src/sdk/dependency.js'
import { startWorker } from '../../src/sdk/worker/worker.js'
import { type System, type SystemOptions, startSystem } from '../../test/fixtures/system.js'
import { untilSeen } from '../../test/fixtures/until.js'

export type Measured = System & {
  /** Asks for a run of these assets; `more`: other members of the request, such as partitions. */
  readonly request: (selection: readonly string[], more?: object) => Promise<string>
  readonly untilOver: (run_id: string) => Promise<void>
}

/** The location that every benchmark of runs serves. */
export const LOCATION_NAME = 'bench'

type RunAnswer = { readonly run_id: string; readonly state: string }

const OVER = ['SUCCEEDED', 'FAILED', 'CANCELLED']
const OVER_WITHIN_MS = 300_000

/** Serves and deploys the assets, runs the benchmark, and ends all of it. */
export async function withSystem(
  assets: readonly Asset[],
  slots: number,
  run: (system: Measured) => Promise<void>,
  options: SystemOptions = {},
): Promise<void> {
  const system = await startSystem({ slots, on_disk: true, ...options })
  const location = defineCodeLocation({ name: LOCATION_NAME, assets })
  const secrets = readSecrets(system.workerEnvironment(LOCATION_NAME)['SERVO_WORKER_SECRETS'] ?? '')
  const worker = await startWorker({
    location,
    host: '127.0.0.1',
    port: 0,
    slots,
    secrets: 'fault' in secrets ? [] : secrets,
    api_urls: [system.environment['SERVO_API_URL'] as string],
    worker_id: 'bench',
    clock: { ...systemClock },
    random: systemRandom(),
    log: () => undefined,
  })
  try {
    await deployAssets(system, assets, worker.url, slots, await prefetchOf(worker.url))
    const measured = askingOf(system)
    await untilDefined(measured, assets[0]?.key as string)
    await run(measured)
  } finally {
    await worker.close()
    await system.stop()
  }
}

/** As `servo deploy` asks the worker for it. */
async function prefetchOf(worker_url: string): Promise<number> {
  const { prefetch } = (await (await fetch(`${worker_url}/healthz`)).json()) as { readonly prefetch: number }
  return prefetch
}

export async function deployAssets(
  { client }: System,
  assets: readonly Asset[],
  worker_url: string,
  slots: number,
  prefetch = 0,
): Promise<void> {
  const described = describeLocation({ name: LOCATION_NAME, assets })
  const definitions = described.assets.map(({ definition }) => definition)
  await client.post(`/code-locations/${LOCATION_NAME}/deploy`, { worker_url, slots, prefetch, assets: definitions })
}

export function askingOf(system: System): Measured {
  const { client } = system
  return {
    ...system,
    request: async (selection, more = {}) => (await client.post<RunAnswer>('/runs', { selection, ...more })).run_id,
    async untilOver(run_id) {
      const state = await untilSeen(
        `run ${run_id} is over`,
        async () => {
          const run = await client.get<RunAnswer>(`/runs/${run_id}`)
          return OVER.includes(run.state) ? run.state : undefined
        },
        OVER_WITHIN_MS,
      )
      if (state !== 'SUCCEEDED') throw new Error(`Run ${run_id} is ${state}, and the figure would mean nothing.`)
    },
  }
}

/** One run of this asset, which warms everything up as well. */
export const untilDefined = ({ request, untilOver }: Measured, asset_key: string): Promise<unknown> =>
  untilSeen('the assets are defined', () =>
    request([asset_key])
      .then(untilOver)
      .then(() => true),
  )
