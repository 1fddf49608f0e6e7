// Tells whether its worker keeps a task from running, or from running the newest code, judging by the worker's health answer.
// Pure: the API asks the worker.

import type { CodeLocationRow } from '../../projections/asset-table.js'

/** `silent`: no answer came. `other`: the answer is not one of a worker, for example that of a proxy which wants a login. */
export type WorkerState =
  | { readonly kind: 'health'; readonly health: { readonly location_name: string; readonly code_problem?: string } }
  | { readonly kind: 'silent'; readonly why: string }
  | { readonly kind: 'other' }

type Served = Pick<CodeLocationRow, 'location_name' | 'worker_url'>

/** null: nothing is known to be wrong. `waits`: the task waits for this worker. A worker that runs the task does not have to answer. */
export function workerProblem(
  { location_name, worker_url }: Served,
  state: WorkerState,
  { waits }: { readonly waits: boolean },
): string | null {
  if (state.kind === 'other') return null
  if (state.kind === 'silent') {
    if (!waits) return null
    return `No worker answers the API at ${worker_url}: ${state.why}. Start the worker of ${location_name}; where it has ended, its log or the terminal of \`servo dev\` says why.`
  }
  const { health } = state
  if (health.location_name !== location_name) {
    if (!waits) return null
    return `The worker at ${worker_url} serves ${health.location_name}, and not ${location_name}. Start the worker of ${location_name}, or deploy it with the URL of that.`
  }
  if (health.code_problem === undefined) return null
  return `The worker of ${location_name} runs older code, because the code of now cannot be loaded: ${health.code_problem}`
}
