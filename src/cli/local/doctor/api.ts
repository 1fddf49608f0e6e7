// The API: whether it answers, whether it is ready, whether the token fits, and how far its clock is from this machine's.

import { API_PREFIX } from '../../../api/contract/path.js'
import { messageOf } from '../../../core/errors.js'
import { type Finding, fail, ok, warn } from './finding.js'
import { skewFinding } from './store.js'

const TIMEOUT_MS = 5_000
const START = 'Start it with `servo dev` or `servo api`, or say where it is: --api URL or SERVO_API.'

/** Without the token of the API there is no detail. */
type Check = { readonly name: string; readonly ok: boolean; readonly detail?: string }

export async function checkApi(url: string, token: string | undefined): Promise<readonly Finding[]> {
  const base = url.replace(/\/+$/, '')
  const asked_at = Date.now()
  const healthy = await asked(`${base}/healthz`)
  if ('problem' in healthy) return [fail('api', `${url} does not answer: ${healthy.problem}`, START)]
  if (!healthy.response.ok) return [fail('api', `${url} answers ${healthy.response.status}, and not as Servo's API does`, START)]
  const skew = clockOf(healthy.response, asked_at, Date.now())
  return [ok('api', `${url} answers`), ...(await readiness(base, token)), await rights(base, token), ...(skew === undefined ? [] : [skew])]
}

async function readiness(base: string, token: string | undefined): Promise<readonly Finding[]> {
  const ready = await asked(`${base}/readyz`, headersOf(token))
  const mend = 'Look at what it says; `servo automation` or `servo dev` publishes the first revision.'
  if ('problem' in ready) return [fail('api ready', ready.problem, mend)]
  const { checks: all = [] } = (await ready.response.json().catch(() => ({}))) as { readonly checks?: readonly Check[] }
  const checks = all.filter(({ name }) => name !== AUTOMATION)
  return [...all.filter(({ name }) => name === AUTOMATION).map(automationFinding), readyFinding(ready.response, checks, mend)]
}

const AUTOMATION = 'automation'

/** The API knows it by what the newest revision asked for and what it lacks, so that it is said of every automation, wherever it ran. */
const automationFinding = ({ ok: isOk, detail = isOk ? 'ok' : 'a turn is overdue' }: Check): Finding =>
  isOk
    ? ok(AUTOMATION, detail)
    : fail(AUTOMATION, detail, 'Start `servo automation` or `servo dev`; if it runs, its log and /healthz say what it waits for.')

function readyFinding(response: Response, checks: readonly Check[], mend: string): Finding {
  const told = checks.map(({ name, ok, detail = ok ? 'ok' : 'not ok' }) => `${name}: ${detail}`).join('; ')
  if (!response.ok) return fail('api ready', told || `it answers ${response.status}`, mend)
  if (checks.every(({ ok }) => ok)) return ok('api ready', told || 'it is ready')
  return warn('api ready', told, 'It answers, and what it accepts waits for what is missing: start that.')
}

const headersOf = (token: string | undefined): Readonly<Record<string, string>> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` }

async function rights(base: string, token: string | undefined): Promise<Finding> {
  const answer = await asked(`${base}${API_PREFIX}/code-locations?limit=1`, headersOf(token))
  if ('problem' in answer) return fail('api token', answer.problem, START)
  const { status } = answer.response
  if (status === 401) {
    const what =
      token === undefined ? 'it wants a token, and SERVO_API_TOKEN is not set' : 'the token of SERVO_API_TOKEN is not the one of this API'
    return fail('api token', what, 'Set SERVO_API_TOKEN to a token that the API was started with: of several, the first is sent.')
  }
  if (answer.response.ok) return ok('api token', token === undefined ? 'none is needed' : 'it is accepted')
  return warn('api token', `a list was answered with ${status}`, "Look into the API's log.")
}

/** Its Date header has no more than seconds. */
function clockOf({ headers }: Response, asked_ms: number, answered_ms: number): Finding | undefined {
  const date = Date.parse(headers.get('date') ?? '')
  return Number.isNaN(date) ? undefined : skewFinding('api clock', date + 500, asked_ms, answered_ms)
}

async function asked(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly response: Response } | { readonly problem: string }> {
  try {
    return { response: await fetch(url, { headers: { ...headers }, signal: AbortSignal.timeout(TIMEOUT_MS) }) }
  } catch (error) {
    return { problem: messageOf(error instanceof Error && error.cause instanceof Error ? error.cause : error) }
  }
}
