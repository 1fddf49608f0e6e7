// Tells workers which of their attempts are to stop, with the publish that shows it: sooner than their next heartbeat would.
// It is said once, by whoever published, and rests on nothing: what it does not reach, the answer to a heartbeat tells.

import { CANCEL_PATH, type CancelRequest, WORKER_PROTOCOL } from '../api/contract/worker.js'
import { CANCELS_PER_REQUEST_MAX } from '../core/limits.js'
import type { TaskRow } from '../projections/run-table.js'
import type { WorkingSet } from '../projections/working-set.js'
import type { Workspace } from '../turn/workspace.js'
import { reasonOf, type SignedAnswer } from './signed-post.js'

type CancelPushDeps = {
  /** Throws where nobody answered. */
  readonly post: (url: URL, request: CancelRequest, location_name: string) => Promise<Pick<SignedAnswer, 'status' | 'is_taken'>>
  readonly log: (message: string) => void
}

export type CancelPush = {
  /** Takes what this revision has and nobody here has told, within the call, and tells it on its own time. */
  readonly onPublish: (workspace: Pick<Workspace, 'rows'>) => void
  /** What is on its way has arrived. */
  readonly settled: () => Promise<void>
}

/** The worker has no such path: it waits for its heartbeats, as it may. */
const NOT_SERVED = [404, 405, 501]

export function createCancelPush(deps: CancelPushDeps): CancelPush {
  /** Attempts that this process has told, for as long as they run. */
  let told: ReadonlySet<string> = new Set()
  const under_way = new Set<Promise<void>>()

  async function tell(location_name: string, worker_url: string, attempt_ids: readonly string[]): Promise<void> {
    const later = `${attempt_ids.length} attempts of cancelled runs are told to stop by their next heartbeats, because`
    try {
      const request: CancelRequest = { protocol: WORKER_PROTOCOL, attempt_ids: [...attempt_ids] }
      const { status, is_taken } = await deps.post(new URL(CANCEL_PATH, worker_url), request, location_name)
      if (!is_taken && !NOT_SERVED.includes(status)) deps.log(`${location_name}: ${later} the worker answered ${status}.`)
    } catch (error) {
      deps.log(`${location_name}: ${later} ${worker_url} did not answer: ${reasonOf(error)}`)
    }
  }

  return {
    onPublish({ rows }) {
      const running = runningOfCancelled(rows)
      const fresh = running.filter(({ attempt_id }) => attempt_id !== null && !told.has(attempt_id))
      told = new Set(running.flatMap(({ attempt_id }) => attempt_id ?? []))
      for (const [location_name, attempt_ids] of byLocation(fresh)) {
        const worker_url = rows.get('code_locations', location_name)?.worker_url
        if (worker_url === undefined) continue
        for (let start = 0; start < attempt_ids.length; start += CANCELS_PER_REQUEST_MAX) {
          const work = tell(location_name, worker_url, attempt_ids.slice(start, start + CANCELS_PER_REQUEST_MAX))
          under_way.add(work)
          void work.finally(() => under_way.delete(work))
        }
      }
    },
    async settled() {
      await Promise.allSettled([...under_way])
    },
  }
}

/** By way of the runs, which are few: a publish does not look at every task for it. */
const runningOfCancelled = (rows: WorkingSet): readonly TaskRow[] =>
  rows
    .hotRows('runs')
    .filter(({ state }) => state === 'CANCELLING')
    .flatMap(({ run_id }) => rows.tasksOf(run_id).filter(({ state }) => state === 'RUNNING'))

function byLocation(tasks: readonly TaskRow[]): ReadonlyMap<string, readonly string[]> {
  const grouped = new Map<string, string[]>()
  for (const { location_name, attempt_id } of tasks) {
    const group = grouped.get(location_name) ?? []
    grouped.set(location_name, group)
    if (attempt_id !== null) group.push(attempt_id)
  }
  return grouped
}
