// What a worker answers to a request that it does not take: a problem of RFC 9457, in sentences.

import type { z } from 'zod'

type FieldFault = { readonly path: string; readonly message: string }

export type Problem = {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly errors?: readonly FieldFault[]
}

export const PROBLEM_TYPE = 'application/problem+json'

/** Nothing is explained at an address of its own: the title says what kind of problem it is. */
const NO_PAGE = 'about:blank'

export const notFound = (method: string, path: string): Problem => ({
  type: NO_PAGE,
  title: 'Not found',
  status: 404,
  detail: `There is no ${method} ${path} here. A worker answers POST /servo/v1/dispatch, POST /servo/v1/cancel, GET /healthz and GET /metrics.`,
})

export const notSigned = (detail: string): Problem => ({ type: NO_PAGE, title: 'Not signed', status: 401, detail })

export const foreign = (detail: string): Problem => ({ type: NO_PAGE, title: 'Not for this worker', status: 403, detail })

export const notProved = (detail: string): Problem => ({ type: NO_PAGE, title: 'Not proved', status: 401, detail })

export const noKeys = (detail: string): Problem => ({ type: NO_PAGE, title: 'Keys not known', status: 503, detail })

export const tooLarge = (bytes_max: number): Problem => ({
  type: NO_PAGE,
  title: 'Too large',
  status: 413,
  detail: `The body has more than ${bytes_max} bytes. Send less in one request.`,
})

export const failedHere = (): Problem => ({
  type: NO_PAGE,
  title: 'Worker failed',
  status: 500,
  detail: 'The worker could not handle the request. Its own log says why; send the request again.',
})

/** What is sent to a worker, by the name of its schema. */
export type RequestName = 'DispatchRequest' | 'CancelRequest'

export const noJson = (name: RequestName): Problem => ({
  type: NO_PAGE,
  title: 'Bad request',
  status: 400,
  detail: `The body is no JSON. Send a ${name} of the protocol servo-worker-v1.`,
})

export function badRequest(name: RequestName, error: z.ZodError): Problem {
  const errors = error.issues.map(({ path, message }) => ({ path: pathText(path), message: asSentence(message) }))
  return {
    type: NO_PAGE,
    title: 'Bad request',
    status: 400,
    detail: `The body is no ${name} of the protocol servo-worker-v1: ${errors.length === 1 ? 'one member is' : `${errors.length} members are`} wrong.`,
    errors,
  }
}

/** `dispatches[0].attempt_id`; empty for the body itself. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? String(step) : `${text}.${String(step)}`),
    '',
  )

/** The contract's own rules end the sentence "Give it …"; those of the library are sentences but for their full stop. */
const asSentence = (message: string): string => {
  const whole = /^[A-Z]/.test(message) ? message : `Give it ${message}`
  return whole.endsWith('.') ? whole : `${whole}.`
}
