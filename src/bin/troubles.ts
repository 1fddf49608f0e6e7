// What keeps an automation from its work, from what servers answer: a missing thing is waited for, and a setting that a
// server refuses ends a process that has never worked with it.

import { status } from '@grpc/grpc-js'
import { isOperatingError, messageOf } from '../core/errors.js'
import type { Trouble } from '../telemetry/health.js'
import type { TemporalConfig } from './config.js'
import { grpcCode, type NamespaceState } from './temporal-namespace.js'

/** `is_setting`: waiting does not mend it, another setting does. `code`: the server's answer as a code, where it gave one. */
export type SessionTrouble = Trouble & { readonly is_setting: boolean; readonly code?: string }

/** The same thing is missing for the same reason. Texts of servers carry times and addresses that differ between two tries. */
export const isSameTrouble = (left: SessionTrouble, right: SessionTrouble): boolean =>
  left.needs === right.needs && left.code === right.code && (left.code !== undefined || left.problem === right.problem)

export class SessionError extends Error {
  readonly trouble: SessionTrouble
  constructor(trouble: SessionTrouble, cause?: unknown) {
    super(trouble.problem, { cause })
    this.name = 'SessionError'
    this.trouble = trouble
  }
}

/** Says of what fails in it that the store is what is missing. */
export async function needingStore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new SessionError(storeTrouble(error), error)
  }
}

/** Says of what fails in it what is missing in Temporal. */
export async function needingTemporal<T>(config: TemporalConfig, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof SessionError ? error : new SessionError(temporalTrouble(error, config), error)
  }
}

export const troubleOf = (error: unknown): SessionTrouble =>
  error instanceof SessionError ? error.trouble : { needs: 'other', problem: messageOf(error), is_setting: false }

export const storeTrouble = (error: unknown): SessionTrouble => ({
  problem: messageOf(error),
  is_setting: false,
  ...(isOperatingError(error) ? { needs: 'store', code: error.kind } : { needs: 'other' }),
})

const SET_UP = 'Create what is missing with `servo temporal set-up`.'

export function temporalTrouble(error: unknown, config: TemporalConfig): SessionTrouble {
  const here = `Temporal at ${config.address}`
  const said = detailsOf(error)
  const code = grpcCode(error)
  const answer = code === undefined ? undefined : ANSWERS.get(code)
  const trouble = answer?.({ ...config, here, said }) ?? {
    needs: 'temporal',
    problem: `${here} does not answer: ${said}`,
    is_setting: false,
  }
  return code === undefined ? trouble : { ...trouble, code: `grpc ${status[code]}` }
}

/** `said`: in the server's words. */
type Answer = TemporalConfig & { readonly here: string; readonly said: string }

/** What an answer means, by its code. All others are those of a server that cannot answer now. */
const ANSWERS: ReadonlyMap<status, (answer: Answer) => SessionTrouble> = new Map([
  [status.NOT_FOUND, ({ here, namespace }: Answer) => missingNamespace(here, namespace)],
  [
    // Also Temporal Cloud's answer for a namespace that is not there.
    status.PERMISSION_DENIED,
    ({ here, namespace, said }: Answer): SessionTrouble => ({
      needs: 'namespace',
      problem: `${here} refuses this client the namespace ${namespace}: ${said} See that it exists, and that TEMPORAL_API_KEY may use it.`,
      is_setting: false,
    }),
  ],
  [
    status.UNAUTHENTICATED,
    ({ here, said, api_key }: Answer): SessionTrouble => {
      const cure = api_key === undefined ? 'Set TEMPORAL_API_KEY.' : 'Give TEMPORAL_API_KEY another key, and start this process again.'
      return { needs: 'temporal', problem: `${here} does not know this client: ${said} ${cure}`, is_setting: true }
    },
  ],
  [
    status.UNIMPLEMENTED,
    ({ address, said }: Answer): SessionTrouble => ({
      needs: 'temporal',
      problem: `What answers at ${address} is not Temporal: ${said} See TEMPORAL_ADDRESS.`,
      is_setting: true,
    }),
  ],
  [
    status.INVALID_ARGUMENT,
    ({ here, said }: Answer): SessionTrouble => ({
      needs: 'search_attributes',
      problem: `${here} refused what Servo asked with search attributes: ${said} ${SET_UP}`,
      is_setting: false,
    }),
  ],
])

const missingNamespace = (here: string, namespace: string): SessionTrouble => ({
  needs: 'namespace',
  problem: `${here} has no namespace ${namespace}. ${SET_UP}`,
  is_setting: false,
})

/** undefined: nothing is missing. */
export function namespaceTrouble(
  { is_there, missing, mistyped }: NamespaceState,
  { address, namespace }: TemporalConfig,
): SessionTrouble | undefined {
  const here = `Temporal at ${address}`
  if (!is_there) return missingNamespace(here, namespace)
  const lacking = [...missing, ...mistyped].map(([name, type]) => `${name} (${type})`)
  if (lacking.length === 0) return undefined
  const problem = `The namespace ${namespace} of ${here} lacks search attributes: ${lacking.join(', ')}. ${SET_UP}`
  return { needs: 'search_attributes', problem, is_setting: false }
}

/** `Deadline exceeded after 0.002s,name resolution: 0.001s,…`: it differs from one try to the next, and says nothing to an operator. */
const GRPC_TIMING = /(Deadline exceeded) after \d[^ ]*s\b.*$/i

/** What the server said, without gRPC's own words around it; one line, ending as a sentence. */
function detailsOf(error: unknown): string {
  let said = messageOf(error)
  for (let at = error; at instanceof Error; at = at.cause) {
    const { details } = at as { readonly details?: unknown }
    if (typeof details === 'string' && details !== '') said = details
  }
  const line = said
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace(GRPC_TIMING, '$1')
    .trim()
  return /[.!?]$/.test(line) ? line : `${line}.`
}
