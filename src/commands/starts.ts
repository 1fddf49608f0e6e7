// The start claim of an attempt: a create-only object that the first execution makes. Whoever comes second runs nothing,
// whatever queues and retries do. It is taken before TaskStarted is appended, and is never given back.

import { z } from 'zod'
import { corrupt } from '../core/errors.js'
import { parseJson } from '../core/json.js'
import { type AttemptIds, startClaimName } from '../core/keys.js'
import { instantText } from '../core/time.js'
import { type CreateDeps, createOrRead } from './create-or-read.js'

const SCHEMA = 'servo-start-v1'

export type StartClaim = AttemptIds & { readonly execution_id: string; readonly worker_id: string; readonly sequence: number }

/** `taken`: another execution of the attempt was first. */
export type StartAnswer = 'ours' | { readonly kind: 'taken'; readonly execution_id: string; readonly worker_id: string }

export async function claimStart(deps: CreateDeps, claim: StartClaim, now: number): Promise<StartAnswer> {
  const name = startClaimName(claim.attempt_id)
  const content = { schema: SCHEMA, ...claim, claimed_at: instantText(now) }
  const found = await createOrRead(deps, name, content, 'Ask again with the same execution_id.')
  return found === 'created' ? 'ours' : ownerOf(name, found, claim)
}

const CLAIM = z.object({ schema: z.literal(SCHEMA), execution_id: z.string(), worker_id: z.string() })

function ownerOf(name: string, bytes: Uint8Array, { execution_id }: StartClaim): StartAnswer {
  const parsed = CLAIM.safeParse(parseJson(Buffer.from(bytes).toString('utf8')))
  if (!parsed.success) throw corrupt(`${name} is no start claim that this version understands.`)
  const { data } = parsed
  return data.execution_id === execution_id ? 'ours' : { kind: 'taken', execution_id: data.execution_id, worker_id: data.worker_id }
}
