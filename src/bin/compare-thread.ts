// The other thread of a replay: opens the live tables for itself, compares those that it is asked for, and ends.

import { parentPort, workerData } from 'node:worker_threads'
import { compareJob } from '../turn/replayed/compare-kept.js'
import type { AskedThread } from './compare-beside.js'
import { openDeps } from './deps.js'

const { config, job } = workerData as AskedThread
const deps = await openDeps({ ...config, access: 'read' })
parentPort?.postMessage(await compareJob(deps, job))
await deps.close()
