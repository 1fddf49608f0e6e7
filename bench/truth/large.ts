// The large workspace: finished runs spread over seven virtual days, through the real append, fold, publish and merge.

import { DAY_MS } from '../../src/core/time.js'
import { STEADY_EVENTS_PER_RUN, STEADY_TASKS_PER_RUN } from '../../test/fixtures/steady-runs.js'
import { appendInSegments, type BenchWorkspace, deploy, foldAll } from '../workspace.js'

export type LargeSize = { readonly runs: number; readonly segments: number }

/** 16,667 runs of 26 events and six tasks: 100,000 tasks and partitions, 433,000 keys, 10,000 segments. */
export const FULL_SIZE: LargeSize = { runs: 16_667, segments: 10_000 }
export const QUICK_SIZE: LargeSize = { runs: 600, segments: 360 }

/** The number of a run that no build and no benchmark of this workspace has made yet. */
export async function nextRun({ reader }: BenchWorkspace): Promise<number> {
  const applied = (await reader.latest())?.snapshot.revision.applied_total ?? 0
  // Each run is more events than one.
  return Math.ceil(applied / STEADY_EVENTS_PER_RUN) + 1
}

const DAYS = 7
/** Turns while it is built: about one an hour of the story. */
const TURNS = 200

export const describeSize = ({ runs, segments }: LargeSize): string =>
  `${runs * STEADY_TASKS_PER_RUN} partitions and finished tasks, ${runs * 26} live keys, ${segments} segments over ${DAYS} virtual days`

export async function buildLarge(workspace: BenchWorkspace, { runs, segments }: LargeSize): Promise<void> {
  await deploy(workspace)
  const runsPerTurn = Math.ceil(runs / TURNS)
  const segmentsPerTurn = Math.max(1, Math.floor(segments / TURNS))
  for (let first_run = 0; first_run < runs; first_run += runsPerTurn) {
    const count = Math.min(runsPerTurn, runs - first_run)
    const events = workspace.runs({ runs: count, first_run, open_runs: 10, enqueued: true })
    const perSegment = Math.ceil(events.length / segmentsPerTurn)
    for (let start = 0; start < events.length; start += perSegment) {
      await appendInSegments(workspace, events.slice(start, start + perSegment), perSegment)
      workspace.clock.advance((DAYS * DAY_MS) / TURNS / segmentsPerTurn)
    }
    const { merge_due } = await foldAll(workspace.turn)
    if (merge_due) await workspace.merge()
  }
  await workspace.merge()
}
