// The API as commands use it: one call, one answer, and what went wrong as an error that says what the API said.

import { API_PREFIX } from '../api/contract/path.js'
import { PROBLEM_TYPE_PREFIX } from '../api/contract/problem-type.js'
import { unavailable } from '../core/errors.js'

export type ApiProblem = {
  readonly type?: string
  readonly title?: string
  readonly status: number
  readonly detail?: string
  readonly errors?: readonly { readonly path: string; readonly message: string }[]
  readonly request_id?: string
} & Readonly<Record<string, unknown>>

/** The API understood, and said no. */
export class ApiError extends Error {
  readonly problem: ApiProblem
  constructor(problem: ApiProblem) {
    super(problem.detail ?? problem.title ?? `The API answered ${problem.status}.`)
    this.name = 'ApiError'
    this.problem = problem
  }
}

/** No revision has what was asked for, and it may be among what is accepted and not taken up by a turn yet. */
export const isNotTakenUp = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.problem.type === `${PROBLEM_TYPE_PREFIX}not-taken-up`

export type ApiClient = {
  readonly url: string
  readonly get: <T>(path: string, query?: Query) => Promise<T>
  /** What operators ask beside the API's own paths, such as /readyz. */
  readonly probe: <T>(path: string) => Promise<T>
  readonly post: <T>(path: string, body: unknown, options?: SendOptions) => Promise<T>
  readonly send: <T>(method: 'PUT' | 'PATCH' | 'DELETE', path: string, body: unknown, options?: SendOptions) => Promise<T>
}

type SendOptions = { readonly query?: Query; readonly idempotency_key?: string }

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

export const API_URL_DEFAULT = 'http://127.0.0.1:7800'

/** Of the tokens in SERVO_API_TOKEN, which are several while the token is rotated, the first is used. undefined: there is none. */
export const firstToken = (text: string | undefined): string | undefined => text?.split(',', 1)[0]?.trim() || undefined

/** Longer than the API waits for anything. */
const ANSWER_TIMEOUT_MS = 60_000

export function createApiClient({ url, token }: { readonly url: string; readonly token?: string | undefined }): ApiClient {
  async function call<T>(
    method: string,
    path: string,
    init: { readonly body?: string; readonly headers?: Record<string, string> },
  ): Promise<T> {
    const response = await answered(url, `${url.replace(/\/+$/, '')}${path}`, {
      method,
      ...init,
      headers: { accept: 'application/json', ...init.headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    })
    const text = await response.text()
    const body = jsonIn(text)
    if (response.ok && body !== undefined) return body as T
    if (isProblem(body)) throw new ApiError({ ...body, status: response.status })
    throw unavailable(
      `${url} answered ${response.status}, and not as Servo's API does. Is it the right address? Give it with --api or SERVO_API.`,
    )
  }
  const send = <T>(method: string, path: string, body: unknown, { query = {}, idempotency_key }: SendOptions = {}): Promise<T> =>
    call(method, `${API_PREFIX}${path}${queryText(query)}`, {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...(idempotency_key === undefined ? {} : { 'idempotency-key': idempotency_key }) },
    })
  return {
    url,
    get: (path, query = {}) => call('GET', `${API_PREFIX}${path}${queryText(query)}`, {}),
    probe: (path) => call('GET', path, {}),
    post: (path, body, options) => send('POST', path, body, options),
    send,
  }
}

async function answered(url: string, target: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(target, init)
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const why = cause instanceof Error ? cause.message : String(cause)
    const { code } = cause as { readonly code?: unknown }
    if (init.method !== 'GET' && !NEVER_SENT.has(code)) {
      throw unavailable(
        `Servo's API at ${url} was asked, and no answer came: ${why}. It may have accepted it all the same: look before you ask again.`,
        error,
      )
    }
    throw unavailable(
      `Servo's API does not answer at ${url}: ${why}. Start it with \`servo dev\` or \`servo api\`, or say where it is: --api URL or SERVO_API.`,
      error,
    )
  }
}

/** No connection came about: nothing was asked. */
const NEVER_SENT: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

function queryText(query: Query): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    for (const each of Array.isArray(value) ? value : [value]) parameters.append(name, String(each))
  }
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isProblem = (body: unknown): body is ApiProblem => typeof body === 'object' && body !== null && ('detail' in body || 'title' in body)
