// Attempts that are handed over go on in the trace of the request that asked for their run, however many turns later that is.

import type { Dispatch } from '../api/contract/worker.js'
import type { View } from '../readers/reader.js'
import type { Span, Tracing } from '../telemetry/tracing.js'
import type { SendAnswer } from './dispatch.js'

type TracedDispatches = {
  readonly dispatches: readonly Dispatch[]
  readonly answered: (answers: readonly SendAnswer[]) => void
}

/** The first time it is sent, an attempt has a span of its own. The sweep sends as often as it takes, so what it sends goes
 *  on from the request itself. */
export async function traceDispatches(
  tracing: Tracing | undefined,
  view: View,
  dispatches: readonly Dispatch[],
  send: 'first' | 'again',
): Promise<TracedDispatches> {
  if (tracing === undefined) return { dispatches, answered: () => undefined }
  const run_ids = [...new Set(dispatches.map(({ run_id }) => run_id))]
  const runs = await view.rows(
    'runs',
    run_ids.map((run_id) => [run_id]),
  )
  const parents = new Map(runs.map(({ run_id, traceparent }) => [run_id, traceparent]))
  const spans: (Span | undefined)[] = []
  const traced = dispatches.map((dispatch): Dispatch => {
    const parent = parents.get(dispatch.run_id) ?? undefined
    const span = parent === undefined || send === 'again' ? undefined : startDispatch(tracing, dispatch, parent)
    spans.push(span)
    const traceparent = span?.traceparent ?? parent
    return traceparent === undefined ? dispatch : { ...dispatch, traceparent }
  })
  return {
    dispatches: traced,
    answered(answers) {
      for (const [index, span] of spans.entries()) {
        span?.add({ 'servo.answer': answers[index]?.answer ?? 'UNREACHABLE' })
        span?.end()
      }
    },
  }
}

function startDispatch(tracing: Tracing, { run_id, task_key, attempt, location_name }: Dispatch, parent: string): Span {
  const attributes = { 'servo.run_id': run_id, 'servo.task_key': task_key, 'servo.attempt': attempt, 'servo.location': location_name }
  return tracing.start('dispatch', { kind: 'producer', parent, attributes })
}
