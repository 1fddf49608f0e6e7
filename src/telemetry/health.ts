// Whether a process does its work at the moment, and what keeps it from it: for its health endpoint and its metrics.
// Each source reports one problem at most, and takes it back when the problem is over.

import { instantText } from '../core/time.js'

/** What a process may lack. `other`: a fault that none of them explains. */
export const NEEDS = ['temporal', 'namespace', 'search_attributes', 'store', 'other'] as const
export type Need = (typeof NEEDS)[number]

/** `waiting`: it cannot work until something that it needs is there, and tries again by itself. */
export const HEALTH_STATES = ['starting', 'working', 'waiting', 'stopping'] as const
export type HealthState = (typeof HEALTH_STATES)[number]

export type Trouble = {
  readonly needs: Need
  /** What happened and what to do, as a sentence. */
  readonly problem: string
}

export type HealthReport = {
  /** It works, and knows of no problem. */
  readonly ok: boolean
  readonly state: HealthState
  readonly problems: readonly (Trouble & { readonly since: string })[]
}

export type Health = {
  readonly enter: (state: HealthState) => void
  /** undefined: this source has no problem any more. */
  readonly report: (source: string, trouble: Trouble | undefined) => void
  readonly now: () => HealthReport
}

/** `now`: epoch milliseconds. `onChange` is called with each report that differs from the one before it. */
export function createHealth(now: () => number, onChange: (report: HealthReport) => void = () => undefined): Health {
  let state: HealthState = 'starting'
  const problems = new Map<string, HealthReport['problems'][number]>()
  const report = (): HealthReport => ({
    ok: state === 'working' && problems.size === 0,
    state,
    problems: [...problems.values()],
  })
  onChange(report())
  return {
    now: report,
    enter(next) {
      if (next === state) return
      state = next
      onChange(report())
    },
    report(source, trouble) {
      const known = problems.get(source)
      if (known?.problem === trouble?.problem && known?.needs === trouble?.needs) return
      if (trouble === undefined) problems.delete(source)
      else {
        const { needs, problem } = trouble
        problems.set(source, { needs, problem, since: known?.needs === needs ? known.since : instantText(now()) })
      }
      onChange(report())
    },
  }
}
