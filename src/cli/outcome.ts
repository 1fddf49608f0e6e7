// What became of what was sent, for people: durable is not applied.

import type { Outcome } from './answers.js'
import { FailedError } from './exit-code.js'

export const PENDING_HINT =
  'It is accepted and kept, and the next turn carries it out. No turn has taken it up yet: is `servo automation` or `servo dev` running? `servo doctor` looks.'

/** Throws where it was not applied, and never will be. */
export function assertTaken(outcome: Outcome | undefined, what: string): void {
  if (outcome?.kind === 'refused' || outcome?.kind === 'quarantined') {
    const detail = outcome.detail === null || outcome.detail === undefined ? '' : ` ${detailText(outcome.detail)}`
    throw new FailedError(`${what} was ${outcome.kind}: ${outcome.reason}.${detail}`)
  }
}

const detailText = (detail: unknown): string => (typeof detail === 'string' ? detail : JSON.stringify(detail))
