// What looking for stuck work costs where nothing is stuck: an idle turn, a sweep, a look through the listing window, and
// a look after the loops.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { ensureLoops } from '../../src/activities/ensure-loops.js'
import { createHandOver } from '../../src/activities/hand-over.js'
import { findMissedSegments } from '../../src/compactor/window.js'
import { LISTING_WINDOW_LOCAL_MS } from '../../src/core/limits.js'
import { NAMESPACE_DEFAULT } from '../../src/core/names.js'
import { SECOND_MS } from '../../src/core/time.js'
import { createCurrent } from '../../src/readers/current.js'
import { createReader } from '../../src/readers/reader.js'
import type { ObjectStore } from '../../src/storage/object-store.js'
import { createReconcile } from '../../src/turn/controllers.js'
import { createTurn } from '../../src/turn/turn.js'
import { startOnFreePort, temporalProgram } from '../../test/fixtures/temporal-program.js'
import { median, type Report } from '../report.js'
import { buildLarge, describeSize, FULL_SIZE, QUICK_SIZE } from '../truth/large.js'
import type { SuiteOptions } from '../truth/options.js'
import { type BenchWorkspace, openBench, withFolder } from '../workspace.js'

export const REPAIR_NAMES: readonly string[] = ['looks', 'ensure']

export async function runRepair(report: Report, options: SuiteOptions): Promise<void> {
  const { only } = options
  if (only === undefined || only === 'looks') await measureLooks(report, options)
  if (only === undefined || only === 'ensure') await measureEnsure(report, options)
}

const SECRET = { secret_key_id: 's1', secret: 'servo-golden-secret' }

type Cost = { readonly ms: number; readonly reads: number; readonly writes: number }

async function measureLooks(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const size = is_quick ? QUICK_SIZE : FULL_SIZE
  await withFolder(async (folder) => {
    const building = openBench(folder, { sync: false })
    await buildLarge(building, size)
    await building.close()
    const large = openBench(folder, { start: building.clock.now() })
    // What was appended last is some minutes old, as on any workspace that has nothing to do.
    large.clock.advance(10 * 60 * SECOND_MS)
    const { calls, store } = counted(large.store)
    const { turn, sweep } = automationOn(large, store)
    const setup = `nothing is stuck and nothing runs; ${describeSize(size)}`
    const look = async (name: string, count: number, work: () => Promise<unknown>) => {
      const costs: Cost[] = []
      // The first two read what stays in memory.
      for (let round = -2; round < count; round++) {
        calls.reset()
        const began = performance.now()
        await work()
        if (round >= 0) costs.push({ ms: performance.now() - began, ...calls.counted() })
      }
      addCosts(report, name, costs, setup)
    }
    const rounds = is_quick ? 5 : 30
    await look('turn_nothing_new', rounds, () => turn.run())
    await look('sweep_nothing_out', rounds, () => sweep())
    await look('window_nothing_late', rounds, () => findMissedSegments(store, LISTING_WINDOW_LOCAL_MS))
    await large.close()
  })
}

function addCosts(report: Report, name: string, costs: readonly Cost[], setup: string): void {
  const add = (what: string, of: (cost: Cost) => number, unit: string) =>
    report.add({ name: `${name}_${what}`, value: median(costs.map(of)), unit, target: what === 'writes' ? '0' : '-', setup })
  add('ms', ({ ms }) => ms, 'ms')
  add('reads', ({ reads }) => reads, 'calls')
  add('writes', ({ writes }) => writes, 'calls')
}

function counted(store: ObjectStore) {
  let reads = 0
  let writes = 0
  const read = <Answer>(answer: Answer): Answer => {
    reads += 1
    return answer
  }
  const write = <Answer>(answer: Answer): Answer => {
    writes += 1
    return answer
  }
  return {
    calls: {
      reset: () => void ([reads, writes] = [0, 0]),
      counted: () => ({ reads, writes }),
    },
    store: {
      ...store,
      get: (name) => read(store.get(name)),
      head: (name) => read(store.head(name)),
      list: (prefix, start_after) => read(store.list(prefix, start_after)),
      put: (name, bytes, options) => write(store.put(name, bytes, options)),
      delete: (name, options) => write(store.delete(name, options)),
    } satisfies ObjectStore,
  }
}

/** As an automation has them, with the controllers. */
function automationOn({ files, clock, appender, deps }: BenchWorkspace, store: ObjectStore) {
  const reader = createReader({ store, files })
  const hand_over = createHandOver({
    ...deps,
    store,
    reader,
    current: createCurrent({ reader, clock }),
    port: { port: 'DIRECT', send: async (_url, dispatches) => dispatches.map(() => ({ answer: 'ACCEPTED' })) },
    submit: { scope: deps.scope, appender, random: deps.random, poke: () => undefined },
    secrets: [SECRET],
    callback_url: 'http://127.0.0.1:1',
    log: () => undefined,
  })
  const turn = createTurn({ ...deps, store, appender, reconcile: createReconcile({ secret: SECRET }), onPublish: hand_over.onPublish })
  return { turn, sweep: hand_over.sweep }
}

async function measureEnsure(report: Report, { is_quick }: SuiteOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'servo-bench-ensure-'))
  const server = await startOnFreePort({ program: await temporalProgram(), log_file: join(folder, 'temporal.log') })
  const connection = await Connection.connect({ address: server.address })
  const client = new Client({ connection, namespace: NAMESPACE_DEFAULT })
  const scope = { tenant_id: 'acme', workspace_id: 'prod' }
  const ensure = async () => (await ensureLoops({ client, scope })).started
  try {
    await ensure()
    // Lists are behind by a moment.
    while ((await ensure()).length > 0);
    const costs: number[] = []
    for (let round = 0; round < (is_quick ? 5 : 100); round++) {
      const began = performance.now()
      const started = await ensure()
      if (started.length > 0) throw new Error(`A loop that runs was started: ${started.join()}.`)
      costs.push(performance.now() - began)
    }
    const setup = 'both loops of a workspace run; Temporal dev server in memory; one call, a list of what runs'
    report.add({ name: 'ensure_nothing_missing_ms', value: median(costs), unit: 'ms', target: '-', setup })
  } finally {
    await connection.close()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
