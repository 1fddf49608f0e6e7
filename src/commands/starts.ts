// The start claim of an attempt: a create-only object that the first execution makes. Whoever comes second runs nothing,
// whatever queues and retries do. It is taken before TaskStarted is appended, and is never given back.

import { z } from 'zod'
import { corrupt, isOperatingError, messageOf, unavailable } from '../core/errors.js'
import { type AttemptIds, startClaimName } from '../core/keys.js'
import { type Clock, instantText } from '../core/time.js'
import { CREATE, type ObjectStore } from '../storage/object-store.js'
import { readIntact } from '../storage/read-intact.js'

const SCHEMA = 'servo-start-v1'

export type StartClaim = AttemptIds & { readonly execution_id: string; readonly worker_id: string; readonly sequence: number }

/** `taken`: another execution of the attempt was first. */
export type StartAnswer = 'ours' | { readonly kind: 'taken'; readonly execution_id: string; readonly worker_id: string }

export type StartDeps = { readonly store: ObjectStore; readonly clock: Clock }

/** As long as a worker waits for the answer; it asks again with the same execution_id. */
const TRIES_DELAYS_MS = [20, 100, 500, 1_000] as const

export async function claimStart({ store, clock }: StartDeps, claim: StartClaim, now: number): Promise<StartAnswer> {
  const name = startClaimName(claim.attempt_id)
  const bytes = Buffer.from(JSON.stringify({ schema: SCHEMA, ...claim, claimed_at: instantText(now) }))
  let failure: unknown
  for (let attempt = 0; attempt <= TRIES_DELAYS_MS.length; attempt++) {
    if (attempt > 0) await clock.sleep(TRIES_DELAYS_MS[attempt - 1] ?? 0)
    try {
      const answer = await store.put(name, bytes, { if_generation: CREATE })
      if (answer.kind === 'stored') return 'ours'
      // A lost answer of our own looks the same as another's claim: what is there says whose it is.
      const found = await readIntact(store, name)
      if (found.kind === 'found') return ownerOf(name, found.bytes, claim)
      failure = answer.kind
    } catch (error) {
      if (!isOperatingError(error, 'unavailable')) throw error
      failure = error
    }
  }
  throw unavailable(
    `The start of attempt ${claim.attempt_id} could not be claimed in ${store.label} (${messageOf(failure)}). Ask again with the same execution_id.`,
    failure,
  )
}

const CLAIM = z.object({ schema: z.literal(SCHEMA), execution_id: z.string(), worker_id: z.string() })

function ownerOf(name: string, bytes: Uint8Array, { execution_id }: StartClaim): StartAnswer {
  const parsed = CLAIM.safeParse(jsonIn(bytes))
  if (!parsed.success) throw corrupt(`${name} is no start claim that this version understands.`)
  const { data } = parsed
  return data.execution_id === execution_id ? 'ours' : { kind: 'taken', execution_id: data.execution_id, worker_id: data.worker_id }
}

function jsonIn(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    return undefined
  }
}
