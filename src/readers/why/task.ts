// Why a task is not running: its rows, then what its worker says, where it waits for that.

import type { NotFound } from '../not-found.js'
import type { View } from '../reader.js'
import type { Around, Explanation } from './explanation.js'
import { loadWhy } from './load.js'
import { type Why, whyOf, workerToAsk } from './why.js'

type TaskId = { readonly run_id: string; readonly task_key: string }

/** `state` is null where the run has no tasks. */
export async function explainTask(
  view: View | undefined,
  { run_id, task_key }: TaskId,
  { now, askWorker }: Around,
): Promise<(Explanation & Why & { readonly state: string | null }) | NotFound> {
  const rows = await loadWhy(view, run_id, task_key, now)
  if ('problem' in rows) return rows
  const worker_url = workerToAsk(rows, now)
  const worker = worker_url === undefined ? undefined : await askWorker?.(worker_url)
  return { state: rows.task?.state ?? null, ...whyOf(rows, now, worker) }
}
