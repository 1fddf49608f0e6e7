// Claims of commands from the API (DATA section 2): who sends the same key again gets the same answer, and it happens once.
// The claim holds the planned batch and is durable before the append, so that a crash between the two is finished by the
// repeat. What is refused while it is planned claims nothing: mended, it may be sent again under the same key.

import { z } from 'zod'
import { canonicalJson } from '../core/canonical.js'
import { corrupt } from '../core/errors.js'
import { sha256Hex } from '../core/hash.js'
import { parseJson } from '../core/json.js'
import { claimName } from '../core/keys.js'
import { CLAIM_APPENDS_MS_MAX } from '../core/limits.js'
import { instantMs, instantText } from '../core/time.js'
import { newUlid } from '../core/ulid.js'
import type { Draft, Stamp } from '../events/draft.js'
import type { LedgerEvent } from '../events/event.js'
import { type CreateDeps, createOrRead } from '../storage/create-or-read.js'
import { readIntact } from '../storage/read-intact.js'
import { isProblem, type Problem, problem } from './problem.js'
import { type Submit, stampNow, submitEvents } from './submit.js'

export type ClaimDeps = Submit & CreateDeps

/** `route` and `principal` are part of the name: nobody's key is another's, and no route's another route's. */
export type Claim = { readonly principal: string; readonly route: string; readonly client_key: string }

export type ClaimAnswer = { readonly status: number; readonly body: unknown }

/** Without drafts nothing is appended. */
export type Plan = {
  readonly drafts: readonly Draft[]
  readonly source: Stamp['source']
  readonly answerOf: (events: readonly LedgerEvent[]) => ClaimAnswer
}

export type Claimed = ClaimAnswer & {
  readonly events: readonly LedgerEvent[]
  /** undefined: nothing was appended now. */
  readonly segment_name: string | undefined
}

const SCHEMA = 'servo-claim-v1'

const STORED = z.object({
  schema: z.literal(SCHEMA),
  request_sha256: z.string(),
  claimed_at: z.string(),
  batch: z.object({ events: z.array(z.unknown()) }),
  answer: z.object({ status: z.number(), body: z.unknown() }),
})

/** `request` is all that the answer depends on: the body, and what the path names. */
export async function submitClaimed(
  deps: ClaimDeps,
  claim: Claim | undefined,
  request: unknown,
  plan: (request_id: string) => Promise<Plan | Problem>,
): Promise<Claimed | Problem> {
  const request_sha256 = sha256Hex(canonicalJson(request))
  const known = claim === undefined ? undefined : await readClaim(deps, claim)
  if (claim !== undefined && known !== undefined) return repeat(deps, claim, known, request_sha256)

  const request_id = newUlid(deps.appender.now(), deps.random)
  const planned = await plan(request_id)
  if (isProblem(planned)) return planned
  const { drafts, source, answerOf } = planned
  const events = stampNow(deps, drafts, source)
  const answer = answerOf(events)
  if (claim === undefined) return { ...answer, events, segment_name: await append(deps, events) }
  const claimed_at = instantText(deps.appender.now())
  const batch = { batch_id: newUlid(deps.appender.now(), deps.random), events }
  const stored = { schema: SCHEMA, ...claim, request_id, request_sha256, claimed_at, batch, answer }
  const name = claimName(claim)
  const found = await createOrRead(deps, name, stored, 'Send the same again.')
  // Somebody else claimed the key meanwhile, or our own answer was lost: what is there counts.
  if (found !== 'created') return repeat(deps, claim, storedIn(name, found), request_sha256)
  return { ...answer, events, segment_name: await append(deps, events) }
}

const append = async (deps: ClaimDeps, events: readonly LedgerEvent[]): Promise<string | undefined> =>
  events.length === 0 ? undefined : (await submitEvents(deps, events, 'now')).segment_name

type Stored = z.output<typeof STORED>

async function repeat(deps: ClaimDeps, { client_key, route }: Claim, stored: Stored, request_sha256: string): Promise<Claimed | Problem> {
  if (stored.request_sha256 !== request_sha256) {
    return problem(
      'key-reused',
      `The idempotency key ${JSON.stringify(client_key)} was used for ${route} before, with another body. Send what was sent then, or choose another key.`,
    )
  }
  const events = stored.batch.events as readonly LedgerEvent[]
  // The ledger forgets keys a day later: from here on a repeat could happen twice.
  const isAppended = deps.appender.now() - instantMs(stored.claimed_at) <= CLAIM_APPENDS_MS_MAX
  return { ...stored.answer, events, segment_name: isAppended ? await append(deps, events) : undefined }
}

async function readClaim({ store }: ClaimDeps, claim: Claim): Promise<Stored | undefined> {
  const name = claimName(claim)
  const found = await readIntact(store, name)
  return found.kind === 'absent' ? undefined : storedIn(name, found.bytes)
}

function storedIn(name: string, bytes: Uint8Array): Stored {
  const parsed = STORED.safeParse(parseJson(Buffer.from(bytes).toString('utf8')))
  if (!parsed.success) throw corrupt(`${name} is no claim that this version understands.`)
  return parsed.data
}
