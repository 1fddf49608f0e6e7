// The whole system as real processes with worker processes of their own, for what has to survive the death of one.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startServo } from '../../test/fixtures/servo-process.js'
import { startSystem } from '../../test/fixtures/system.js'
import { askingOf, deployAssets, type Measured, untilDefined } from '../run/system.js'
import { startBalancer } from './balancer.js'
import { location, STARTS_VARIABLE } from './location.js'

const MODULE = fileURLToPath(new URL('location.ts', import.meta.url))

export type CodeStart = {
  readonly run_id: string
  readonly asset_key: string
  readonly attempt: number
  readonly partition_key: string
  readonly pid: number
  /** Epoch milliseconds, by the clock of the machine that all processes share. */
  readonly at: number
}

export type WorkerChild = {
  readonly url: string
  /** SIGKILL; resolves when it is gone. */
  readonly kill: () => Promise<void>
}

export type Served = Measured & {
  readonly starts: () => Promise<readonly CodeStart[]>
  readonly startWorker: () => Promise<WorkerChild>
  /** Where attempts go: to the first of these that is there. */
  readonly sendTo: (workers: readonly WorkerChild[]) => void
}

export async function withServed(slots: number, run: (served: Served) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'servo-bench-starts-'))
  const file = join(folder, 'starts.ndjson')
  const system = await startSystem({ on_disk: true })
  const balancer = await startBalancer()
  const workers: WorkerChild[] = []
  const environment = { ...system.workerEnvironment(location.name), [STARTS_VARIABLE]: file }
  const served: Served = {
    ...askingOf(system),
    async starts() {
      const text = await readFile(file, 'utf8').catch(() => '')
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as CodeStart)
    },
    async startWorker() {
      const child = startServo(['worker', MODULE, '--port', '0', '--slots', String(slots), '--json'], environment)
      const [line = ''] = await child.printed(1)
      const { url } = JSON.parse(line) as { readonly url: string }
      const worker: WorkerChild = {
        url,
        async kill() {
          child.stop('SIGKILL')
          await child.finished
        },
      }
      workers.push(worker)
      return worker
    },
    sendTo: (to) => balancer.setTargets(to.map(({ url }) => url)),
  }
  try {
    served.sendTo([await served.startWorker()])
    await deployAssets(system, location.assets, balancer.url, slots)
    await untilDefined(served, 'first')
    await run(served)
  } finally {
    for (const worker of workers) await worker.kill()
    await balancer.close()
    await system.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
