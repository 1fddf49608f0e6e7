// Which worker a deploy records, how many attempts it takes at once, and how many it keeps beyond them. What is not said comes
// from where it is known best: the URL from the last deploy, the numbers from the worker itself.

import type { WorkerHealth } from '../../api/contract/worker.js'
import { type AskedWorker, askWorker } from '../../bin/worker-health.js'
import { WORKER_SLOTS_DEFAULT } from '../../core/limits.js'
import type { CodeLocation } from '../answers.js'
import { type ApiClient, ApiError } from '../client.js'

export const WORKER_URL_DEFAULT = 'http://127.0.0.1:7801'
export const WORKER_URL_VARIABLE = 'SERVO_WORKER_URL'

/** What is said, and where. */
type Said<Value> = readonly [Value, string]
type WorkerOptions = {
  readonly worker_url: Said<string> | undefined
  readonly slots: Said<number> | undefined
  readonly prefetch: Said<number> | undefined
}

export type Chosen = {
  readonly worker_url: string
  readonly worker_url_from: string
  readonly slots: number
  readonly slots_from: string
  readonly prefetch: number
  readonly prefetch_from: string
}

type Request = {
  readonly client: ApiClient
  readonly location_name: string
  readonly asked: WorkerOptions
  readonly environment: Readonly<Record<string, string | undefined>>
}

export async function chooseWorker({ client, location_name, asked, environment }: Request): Promise<Chosen> {
  const recorded = await readLocation(client, location_name)
  const [worker_url, worker_url_from] = urlOf(asked.worker_url, recorded, environment[WORKER_URL_VARIABLE] || undefined)
  const isAllSaid = asked.slots !== undefined && asked.prefetch !== undefined
  const health = isAllSaid ? undefined : await askWorker(worker_url)
  const [slots, slots_from] = asked.slots ?? numberOf('slots', health, location_name, recorded)
  const [prefetch, prefetch_from] = asked.prefetch ?? numberOf('prefetch', health, location_name, recorded)
  return { worker_url, worker_url_from, slots, slots_from, prefetch, prefetch_from }
}

/** For people, before the deploy. */
export function chosenLine({ worker_url, worker_url_from, slots, slots_from, prefetch, prefetch_from }: Chosen): string {
  const ahead = prefetch === 0 ? '' : `, up to ${prefetch} attempts ahead (${prefetch_from})`
  return `Worker ${worker_url} (${worker_url_from}), ${slots} ${slots === 1 ? 'slot' : 'slots'} (${slots_from})${ahead}.`
}

async function readLocation(client: ApiClient, location_name: string): Promise<CodeLocation | undefined> {
  try {
    return await client.get<CodeLocation>(`/code-locations/${encodeURIComponent(location_name)}`, { fresh: true })
  } catch (error) {
    if (error instanceof ApiError && error.problem.status === 404) return undefined
    throw error
  }
}

/** The recorded one goes before the environment: that is often of a terminal, and of whichever checkout it was opened for. */
function urlOf(asked: Said<string> | undefined, recorded: CodeLocation | undefined, variable: string | undefined): Said<string> {
  if (asked !== undefined) return asked
  if (recorded !== undefined) {
    const other =
      variable === undefined || variable === recorded.worker_url
        ? ''
        : `; ${WORKER_URL_VARIABLE} says ${variable}: give --worker-url to change it`
    return [recorded.worker_url, `as deployed before${other}`]
  }
  if (variable !== undefined) return [variable, WORKER_URL_VARIABLE]
  return [WORKER_URL_DEFAULT, 'the default']
}

/** What a worker has to have said before it is given any: one that does not know of prefetching says nothing of it. */
const DEFAULTS = { slots: WORKER_SLOTS_DEFAULT, prefetch: 0 } as const

function numberOf(
  member: keyof typeof DEFAULTS,
  state: AskedWorker | undefined,
  location_name: string,
  recorded: CodeLocation | undefined,
): Said<number> {
  const health = healthOf(state, location_name)
  if (typeof health !== 'string') return [health[member] ?? DEFAULTS[member], 'as the worker says']
  const before = recorded?.[member] ?? undefined
  return before === undefined ? [DEFAULTS[member], `the default: ${health}`] : [before, `as deployed before: ${health}`]
}

/** Its health, or why it is not known. Often it cannot be reached from where people deploy, which is no fault. */
function healthOf(state: AskedWorker | undefined, location_name: string): WorkerHealth | string {
  if (state === undefined) return 'it was not asked'
  if (state.kind === 'silent') return 'no worker answers there'
  if (state.kind === 'other') return 'what answers there does not say its slots'
  const { health } = state
  return health.location_name === location_name ? health : `it serves ${health.location_name} there`
}
