// The system that the benchmarks of runs measure: real processes, and a worker in this one, so that the moment in which
// user code starts is read from one clock.

import { systemClock, systemRandom } from '../../src/bin/clock.js'
import { describeLocation } from '../../src/sdk/definition.js'
import type { Asset } from '../../src/sdk/dependency.js'
import { defineCodeLocation } from '../../src/sdk/code-location.js'
import { startWorker } from '../../src/sdk/worker/worker.js'
import { readSecrets } from '../../src/bin/config.js'
import { startSystem, type System, type SystemOptions } from '../../test/fixtures/system.js'
import { until } from '../../test/fixtures/until.js'

export type Measured = System & {
  readonly request: (selection: readonly string[]) => Promise<string>
  readonly untilOver: (run_id: string) => Promise<void>
}

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
  const system = await startSystem({ slots, ...options })
  const location = defineCodeLocation({ name: 'bench', assets })
  const secrets = readSecrets(system.environment['SERVO_WORKER_SECRETS'] ?? '')
  const worker = await startWorker({
    location,
    host: '127.0.0.1',
    port: 0,
    slots,
    secrets: 'fault' in secrets ? [] : secrets,
    worker_id: 'bench',
    clock: { ...systemClock },
    random: systemRandom(),
    log: () => undefined,
  })
  try {
    const described = describeLocation({ name: location.name, assets: location.assets })
    await system.client.post('/code-locations/bench/deploy', {
      worker_url: worker.url,
      slots,
      assets: described.assets.map(({ definition }) => definition),
    })
    const request = async (selection: readonly string[]) => (await system.client.post<RunAnswer>('/runs', { selection })).run_id
    const untilOver = async (run_id: string) => {
      const state = await until(
        `run ${run_id} is over`,
        async () => {
          const run = await system.client.get<RunAnswer>(`/runs/${run_id}`)
          return OVER.includes(run.state) ? run.state : undefined
        },
        OVER_WITHIN_MS,
      )
      if (state !== 'SUCCEEDED') throw new Error(`Run ${run_id} is ${state}, and the figure would mean nothing.`)
    }
    await until('the assets are defined', () =>
      request([assets[0]?.key as string])
        .then(untilOver)
        .then(() => true),
    )
    await run({ ...system, request, untilOver })
  } finally {
    await worker.close()
    await system.stop()
  }
}
