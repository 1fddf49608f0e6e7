// Half of a comparison in a thread of its own: two cores are there, and a replay keeps one of them busy.

import { Worker } from 'node:worker_threads'
import type { Compared } from '../compactor/compare.js'
import type { CompareBeside, CompareJob } from '../turn/replayed/compare-kept.js'
import type { WorkspaceConfig } from './deps.js'

export type AskedThread = { readonly config: WorkspaceConfig; readonly job: CompareJob }

/** A thread has loaded its modules after half a second: 64 MB are compared in one to two. */
const BYTES_MIN = 64 * 1_024 ** 2

export const compareBeside = (config: WorkspaceConfig, bytes_min = BYTES_MIN): CompareBeside => ({
  bytes_min,
  compare: (job) =>
    new Promise<Compared>((resolve, reject) => {
      const asked: AskedThread = { config, job }
      const thread = new Worker(new URL('./compare-thread.js', import.meta.url), { workerData: asked })
      thread.once('message', resolve)
      thread.once('error', reject)
      thread.once('exit', (code) => reject(new Error(`The other thread of the replay ended with ${code}.`)))
    }),
})
