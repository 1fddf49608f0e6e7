// The deploys that `servo dev` makes by itself: of its module at the start, as `servo deploy` would, and after each change without
// removing anything, because nobody has looked at the plan.

import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../../core/errors.js'
import type { DeployAnswer, DeployAsked } from '../../answers.js'
import { type ApiClient, ApiError } from '../../client.js'
import { isEmptyDiff, keptAssetsLine, keptLine, planLine } from '../../deploy-plan.js'
import { assertTaken, PENDING_HINT } from '../../outcome.js'
import { problemText } from '../../problem-text.js'
import { isPassing } from '../../watching.js'
import { deployPlanned, planDeploy } from '../deploy-location.js'
import type { DeploySource } from '../deploy-source.js'
import type { Cause } from './worker.js'

export type Deploys = {
  /** Why the deploy of a change would be refused; undefined: it would not, or the API does not say so now. Changes nothing. */
  readonly refusalOf: (source: DeploySource) => Promise<string | undefined>
  /** Resolves with false when the deploy failed; the reason was printed. */
  readonly deploy: (source: DeploySource, cause: Cause) => Promise<boolean>
}

type DeploysRequest = {
  readonly client: ApiClient
  /** The path as it was typed. */
  readonly module: string
  readonly worker: Pick<DeployAsked, 'worker_url' | 'slots' | 'prefetch'>
  readonly requested_by?: string | undefined
  readonly say: (line: string) => void
  readonly signal: AbortSignal
}

/** An API that is starting, or that waits for the first turn of a new version, accepts a deploy within seconds. */
const TRY_AGAIN_MS = 500
const TRIED_MS_MAX = 60_000
/** New code waits for its plan no longer: an API that is slow, or away, does not keep a change from serving. */
const PLANNED_MS_MAX = 5_000

export function createDeploys({ client, module, worker, requested_by, say, signal }: DeploysRequest): Deploys {
  let newest: DeploySource | undefined
  let last: Promise<boolean> = Promise.resolve(true)

  async function deployOnce(source: DeploySource, cause: Cause): Promise<boolean> {
    if (signal.aborted) return false
    // A newer change is waiting, and contains this one.
    if (source !== newest) return true
    try {
      const line = await untilAnswered(() => deployNow(source, cause))
      if (line !== '') say(line)
      return true
    } catch (error) {
      if (!signal.aborted) say(`The definitions of ${module} are not deployed: ${textOf(error)}`)
      return false
    }
  }

  function requestOf({ location_name, members }: DeploySource, cause: Cause) {
    const keep_missing = cause !== 'start'
    const by = requested_by === undefined ? {} : { requested_by }
    const asked: DeployAsked = { ...members, ...worker, ...by, reason: 'servo dev', keep_missing }
    return { client, location_name, asked }
  }

  async function deployNow(source: DeploySource, cause: Cause): Promise<string> {
    const { location_name } = source
    const deploy = requestOf(source, cause)
    const planned = await planDeploy(deploy)
    const { diff, location_version } = planned
    if (isEmptyDiff(diff)) {
      if (cause === 'crash') return ''
      const same = `Nothing to deploy: version ${location_version} of ${location_name} is what ${module} says.`
      return `${same}${keptSentence(diff)}`
    }
    const { outcome, location_version: version } = await deployPlanned(deploy, planned, { wait: true })
    assertTaken(outcome, `The deploy of ${location_name}`)
    if (outcome?.kind === 'pending') return `Sent the deploy of ${location_name} (${planLine(diff)}). ${PENDING_HINT}`
    return `Deployed ${location_name}, version ${version}: ${planLine(diff)}.${keptSentence(diff)}`
  }

  function keptSentence(diff: DeployAnswer['diff']): string {
    const kept = keptLine(diff)
    if (kept === '') return ''
    const assets = keptAssetsLine(diff)
    const unserved = assets === '' ? '' : ` Until then no code serves ${assets}: such tasks fail after some retries.`
    return ` Kept, though ${module} does not have it any more: ${kept}. \`servo deploy ${module}\` removes it.${unserved}`
  }

  async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
    const began = performance.now()
    for (;;) {
      try {
        return await ask()
      } catch (error) {
        if (signal.aborted || !(isPassing(error) || isOvertaken(error)) || performance.now() - began > TRIED_MS_MAX) throw error
        await sleep(TRY_AGAIN_MS, undefined, { signal })
      }
    }
  }

  return {
    async refusalOf(source) {
      const late = new AbortController()
      const planned = planDeploy(requestOf(source, 'change')).then(
        () => undefined,
        (error: unknown) =>
          isRefusal(error) ? `The definitions of ${module} cannot be deployed: ${problemText(error.problem)}` : undefined,
      )
      const waited = sleep(PLANNED_MS_MAX, undefined, { signal: AbortSignal.any([signal, late.signal]) }).catch(() => undefined)
      const refusal = await Promise.race([planned, waited])
      late.abort()
      return refusal
    },
    deploy(source, cause) {
      newest = source
      last = last.then(() => deployOnce(source, cause))
      return last
    },
  }
}

/** Another deploy was applied after the plan, for example one of an earlier run that was still pending. A new plan includes it. */
const isOvertaken = (error: unknown): boolean =>
  error instanceof ApiError && error.problem.status === 409 && 'location_version' in error.problem

/** The API has read the definitions and does not take them. What is wrong with the caller or the API says nothing of the code. */
const isRefusal = (error: unknown): error is ApiError => error instanceof ApiError && [400, 409, 413, 422].includes(error.problem.status)

const textOf = (error: unknown): string => (error instanceof ApiError ? problemText(error.problem) : messageOf(error))
