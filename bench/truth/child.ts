// Measurements that need a process of their own, because peak memory belongs to a process:
// `node bench/truth/child.js compact|replay|takeover|follow FOLDER START FIRST_RUN UNIT`, compiled.

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { compareBeside } from '../../src/bin/compare-beside.js'
import { collectSooner } from '../../src/cli/local/heap.js'
import { replay } from '../../src/turn/replay.js'
import { TENANT_ID, WORKSPACE_ID } from '../../test/fixtures/say.js'
import type { SteadyUnit } from '../../test/fixtures/steady-runs.js'
import { appendInSegments, foldAll, openBench } from '../workspace.js'

const [, , what = '', folder = '', start = '0', first_run = '0', unit] = process.argv

const open = () => openBench(folder, { start: Number(start), unit: unit as SteadyUnit })

async function compact(): Promise<object> {
  // As whoever runs turns and merges for months does.
  collectSooner()
  const workspace = open()
  for (let round = 0; round < 10; round++) {
    const events = workspace.runs({ runs: 50, first_run: Number(first_run) + round * 50 })
    await appendInSegments(workspace, events, 50)
    await foldAll(workspace.turn)
  }
  await workspace.merge()
  await workspace.merge(true)
  await workspace.close()
  return {}
}

async function replayAll(): Promise<object> {
  const live = open()
  const started = performance.now()
  const scope = { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID }
  const beside = compareBeside({ ...scope, store: `local:${join(folder, 'store')}` })
  const answer = await replay({ live, scope, scratch_folder: tmpdir(), beside })
  const seconds = (performance.now() - started) / 1_000
  if (answer.differences.length > 0) throw new Error(`The replay differs: ${JSON.stringify(answer.differences[0])}`)
  await live.close()
  return { events: answer.event_count, seconds }
}

/** The first turn loads the hot state, and finds nothing to fold. */
async function takeOver(): Promise<object> {
  const workspace = open()
  const started = performance.now()
  await workspace.turn.run()
  const milliseconds = performance.now() - started
  await workspace.close()
  return { milliseconds }
}

/** It stands by, follows once more where it is told that something was published, and then takes the next turn. */
async function takeOverFollowing(): Promise<object> {
  const workspace = open()
  await workspace.turn.follow()
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  process.stdout.write('following\n')
  await lines.next()
  await workspace.turn.follow()
  process.stdout.write('followed\n')
  await lines.next()
  const started = performance.now()
  await workspace.turn.run()
  const milliseconds = performance.now() - started
  await workspace.close()
  return { milliseconds }
}

const MEASURED: Readonly<Record<string, () => Promise<object>>> = {
  compact,
  replay: replayAll,
  takeover: takeOver,
  follow: takeOverFollowing,
}
const measured = await MEASURED[what]?.()
process.stdout.write(`${JSON.stringify({ ...measured, peak_rss_mb: process.resourceUsage().maxRSS / 1_024 })}\n`)
