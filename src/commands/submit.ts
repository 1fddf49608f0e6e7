// One batch of what somebody asks for or reports: stamped, appended, and the workspace's loop poked. It answers when the
// batch is durable; what becomes of it is asked for by key (readers/wait.ts).

import type { Scope } from '../core/ids.js'
import type { RandomBytes } from '../core/ulid.js'
import { type Draft, type Stamp, stampDrafts } from '../events/draft.js'
import type { LedgerEvent } from '../events/event.js'
import type { Appender } from '../ledger/append.js'
import { BatchRefusedError, segmentName } from '../ledger/segment.js'
import type { Tracing } from '../telemetry/tracing.js'
import { type Problem, problem } from './problem.js'

/** Asks for a turn, and waits for nothing: a poke that is lost costs time, and no fact. `soon`: whoever comes within a
 *  moment is served by the same turn, because nobody waits for this. */
export type Poke = (when: 'now' | 'soon') => void

export type Submit = {
  readonly scope: Scope
  readonly appender: Appender
  readonly random: RandomBytes
  readonly poke: Poke
  readonly tracing?: Tracing | undefined
}

type Submitted = { readonly events: readonly LedgerEvent[]; readonly segment_name: string }

export const stampNow = (
  { scope, appender, random, tracing }: Pick<Submit, 'scope' | 'appender' | 'random' | 'tracing'>,
  drafts: readonly Draft[],
  source: Stamp['source'],
) => stampDrafts(drafts, { ...scope, now: appender.now(), random, source, traceparent: tracing?.traceparent() })

export async function submitDrafts(
  deps: Submit,
  drafts: readonly Draft[],
  source: Stamp['source'],
  when: 'now' | 'soon' = 'now',
): Promise<Submitted> {
  return submitEvents(deps, stampNow(deps, drafts, source), when)
}

export async function submitEvents({ appender, poke }: Submit, events: readonly LedgerEvent[], when: 'now' | 'soon'): Promise<Submitted> {
  const { head } = await appender.append(events)
  poke(when)
  return { events, segment_name: segmentName(head.name) }
}

/** An append that was refused because of what is in the batch: undefined for any other error. */
export function refusedBatch(error: unknown): Problem | undefined {
  if (!(error instanceof BatchRefusedError)) return undefined
  const [first] = error.faults
  return problem(first?.reason === 'TOO_LARGE' ? 'too-large' : 'bad-input', first?.message ?? error.message)
}
