// Hands attempts over by HTTP, straight to the worker.

import { DISPATCH_PATH, type Dispatch, type DispatchRequest, dispatchResponse, WORKER_PROTOCOL } from '../api/contract/worker.js'
import type { Clock } from '../core/time.js'
import type { ErrorValue } from '../events/value.js'
import type { DispatchPort, SendAnswer } from './dispatch.js'
import { createLocationClient, type LocationCall } from './location-client.js'
import type { SignedPostDeps } from './signed-post.js'

const DISPATCH_CALL: LocationCall<Dispatch, SendAnswer> = {
  path: DISPATCH_PATH,
  request: (dispatches): DispatchRequest => ({ protocol: WORKER_PROTOCOL, dispatches: [...dispatches] }),
  answersIn(body, dispatches, worker_url) {
    const parsed = dispatchResponse.safeParse(body)
    if (!parsed.success) return undefined
    const byAttempt = new Map(parsed.data.answers.map((each) => [each.attempt_id, each] as const))
    return dispatches.map(({ attempt_id }): SendAnswer => {
      const found = byAttempt.get(attempt_id)
      if (found === undefined) return { answer: 'UNREACHABLE', problem: `${worker_url} answered, and said nothing of ${attempt_id}.` }
      if (found.answer !== 'REFUSED') return { answer: found.answer }
      return { answer: 'REFUSED', error: (found.error as ErrorValue | undefined) ?? NO_REASON }
    })
  },
}

const NO_REASON: ErrorValue = { code: 'REFUSED', message: 'The worker refused the attempt, and did not say why.' }

export function createDirectPort(deps: SignedPostDeps & { readonly clock: Pick<Clock, 'elapsed'> }): DispatchPort {
  const client = createLocationClient(deps)
  return {
    port: 'DIRECT',
    async send(worker_url, dispatches, _names, location_version) {
      const [first] = dispatches
      if (first === undefined) return []
      const { tenant_id, workspace_id, location_name } = first
      return client.send({ tenant_id, workspace_id, location_name, worker_url, location_version }, DISPATCH_CALL, dispatches)
    },
  }
}
