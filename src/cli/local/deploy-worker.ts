// Which worker a deploy records, and how many attempts it takes at once. What is not said comes from where it is known best:
// the URL from the last deploy, the slots from the worker itself.

import { z } from 'zod'
import { WORKER_SLOTS_DEFAULT } from '../../core/limits.js'
import type { CodeLocation } from '../answers.js'
import { type ApiClient, ApiError } from '../client.js'

export const WORKER_URL_DEFAULT = 'http://127.0.0.1:7801'
export const WORKER_URL_VARIABLE = 'SERVO_WORKER_URL'

/** What is said, and where. */
type Said<Value> = readonly [Value, string]
type Asked = { readonly worker_url: Said<string> | undefined; readonly slots: Said<number> | undefined }

export type Chosen = {
  readonly worker_url: string
  readonly worker_url_from: string
  readonly slots: number
  readonly slots_from: string
}

type Request = {
  readonly client: ApiClient
  readonly location_name: string
  readonly asked: Asked
  readonly environment: Readonly<Record<string, string | undefined>>
}

export async function chooseWorker({ client, location_name, asked, environment }: Request): Promise<Chosen> {
  const recorded = await readLocation(client, location_name)
  const [worker_url, worker_url_from] = urlOf(asked.worker_url, recorded, environment[WORKER_URL_VARIABLE] || undefined)
  const [slots, slots_from] = asked.slots ?? slotsOf(await askWorker(worker_url), location_name, recorded)
  return { worker_url, worker_url_from, slots, slots_from }
}

/** For people, before the deploy. */
export const chosenLine = ({ worker_url, worker_url_from, slots, slots_from }: Chosen): string =>
  `Worker ${worker_url} (${worker_url_from}), ${slots} ${slots === 1 ? 'slot' : 'slots'} (${slots_from}).`

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

type Health = { readonly slots: number; readonly location_name: string } | { readonly why: string }

function slotsOf(said: Health, location_name: string, recorded: CodeLocation | undefined): Said<number> {
  const isOurs = 'slots' in said && said.location_name === location_name
  if (isOurs) return [said.slots, 'as the worker says']
  const why = 'slots' in said ? `it serves ${said.location_name} there` : said.why
  return recorded === undefined ? [WORKER_SLOTS_DEFAULT, `the default: ${why}`] : [recorded.slots, `as deployed before: ${why}`]
}

const ANSWER_TIMEOUT_MS = 2_000
const health = z.object({ location_name: z.string(), slots: z.int().min(1) })

/** Often it cannot be reached from where people deploy, which is no fault. */
async function askWorker(worker_url: string): Promise<Health> {
  try {
    const response = await fetch(`${worker_url.replace(/\/+$/, '')}/healthz`, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) })
    const read = health.safeParse(response.ok ? await response.json() : undefined)
    return read.success ? read.data : { why: 'what answers there does not say its slots' }
  } catch {
    return { why: 'no worker answers there' }
  }
}
