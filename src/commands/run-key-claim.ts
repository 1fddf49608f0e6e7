// Claims of run keys that people choose: the first request for a key holds it from before its append, so that no other
// request is accepted under the same key while the first one is not folded yet. It answers the request that holds the key.

import { z } from 'zod'
import { corrupt } from '../core/errors.js'
import { parseJson } from '../core/json.js'
import { runKeyClaimName } from '../core/keys.js'
import { instantText } from '../core/time.js'
import type { Draft } from '../events/draft.js'
import { type CreateDeps, createOrRead } from '../storage/create-or-read.js'

export type RunRequestedDraft = Extract<Draft, { readonly event_type: 'RunRequested' }>

const SCHEMA = 'servo-run-key-v1'

const STORED = z.object({
  schema: z.literal(SCHEMA),
  run_key: z.string(),
  request_fingerprint: z.string(),
  run_id: z.string(),
  claimed_at: z.string(),
  /** Appended again by the next request for the key, because the process that claimed it may have died before its append. */
  request: z.object({
    event_type: z.literal('RunRequested'),
    idempotency_key: z.string(),
    correlation_id: z.string(),
    payload: z.looseObject({ run_id: z.string(), request_fingerprint: z.string() }),
  }),
})

export async function claimRunKey(deps: CreateDeps, request: RunRequestedDraft): Promise<RunRequestedDraft> {
  const { run_key, request_fingerprint, run_id } = request.payload
  const name = runKeyClaimName(run_key)
  const claimed_at = instantText(deps.clock.now())
  const found = await createOrRead(
    deps,
    name,
    { schema: SCHEMA, run_key, request_fingerprint, run_id, claimed_at, request },
    'Send the same request again.',
  )
  if (found === 'created') return request
  const parsed = STORED.safeParse(parseJson(Buffer.from(found).toString('utf8')))
  if (!parsed.success || parsed.data.run_key !== run_key)
    throw corrupt(`${name} is not a claim of a run key that this version understands.`)
  return parsed.data.request as unknown as RunRequestedDraft
}
