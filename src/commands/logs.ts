// What an attempt logs: chunks of lines, each a create-only object. Logs are no facts: nothing is decided by them, and what
// is beyond the limit is refused. Every object of the attempt counts, whatever number the worker gives it.

import { isOperatingError, messageOf, unavailable } from '../core/errors.js'
import { logChunkName, logFolder } from '../core/keys.js'
import { LOG_BYTES_MAX, LOG_CHUNK_BYTES_MAX, LOG_CHUNK_BYTES_MIN, LOG_CHUNKS_MAX, LOG_COUNTED_BYTES_MAX } from '../core/limits.js'
import { remember } from '../core/recent.js'
import type { TokenClaims } from '../core/token.js'
import { listPages } from '../storage/list-all.js'
import { CREATE } from '../storage/object-store.js'
import type { WriteOnce } from '../storage/write-once.js'
import { type Problem, problem } from './problem.js'

/** What each attempt has stored, by attempt id: as the store lists it, and what this process has added since. Another process
 *  may serve the same attempt, so the store is asked again where a chunk does not follow one that is known, and before much
 *  is added to a listing. A worker that numbers its chunks in order meets the limit to the byte, whoever serves it. */
export type LogCounts = Map<string, Counted>
type Counted = {
  /** What each chunk counts, by its number. */
  readonly costs: Map<number, number>
  bytes: number
  /** What may still be added before the store is asked again. */
  unasked_bytes: number
  listing: Promise<void> | undefined
  readonly under_way: Map<number, Promise<void>>
}

type LogDeps = WriteOnce & { readonly log_counts: LogCounts }

type Attempt = Pick<TokenClaims, 'run_id' | 'attempt_id'>
type Said = { readonly chunk: number; readonly lines: readonly unknown[] }

/** Attempts that are remembered: those that log now, and some. Forgotten, an attempt is listed again. */
const COUNTS_MAX = 10_000
const TRIES_DELAYS_MS = [20, 100, 500] as const

export async function storeLogs(deps: LogDeps, attempt: Attempt, { chunk, lines }: Said): Promise<{ bytes_left: number } | Problem> {
  if (chunk >= LOG_CHUNKS_MAX) return problem('bad-input', `chunk is ${chunk}. Number the chunks of an attempt 0, 1, 2 and so on.`)
  const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  if (bytes.length > LOG_CHUNK_BYTES_MAX) {
    return problem('too-large', `The chunk has ${bytes.length} bytes, and ${LOG_CHUNK_BYTES_MAX} is the most. Send its lines in several.`)
  }
  const counted = countedOf(deps, attempt)
  if (isListingDue(counted, chunk)) await lookAgain(deps, attempt, counted)
  if (counted.costs.has(chunk)) {
    // Sent again before it was answered: it is answered once it is durable.
    await counted.under_way.get(chunk)
    return { bytes_left: leftOf(counted) }
  }
  const cost = costOf(bytes.length)
  if (counted.bytes + cost > LOG_BYTES_MAX) {
    return problem(
      'too-large',
      `This attempt has logged ${counted.bytes} of ${LOG_BYTES_MAX} bytes, and the chunk does not fit. Send no more, and write less or elsewhere.`,
    )
  }
  // Counted before the write: chunks that come at the same time see each other.
  count(counted, chunk, cost)
  counted.unasked_bytes -= cost
  const stored = createChunk(deps, logChunkName(attempt, chunk), bytes)
  counted.under_way.set(chunk, stored)
  try {
    await stored
  } catch (error) {
    // It may be there or not: the store is asked before the next one.
    counted.costs.delete(chunk)
    counted.bytes -= cost
    counted.unasked_bytes = 0
    throw error
  } finally {
    counted.under_way.delete(chunk)
  }
  return { bytes_left: leftOf(counted) }
}

const costOf = (bytes: number): number => Math.max(bytes, LOG_CHUNK_BYTES_MIN)
const leftOf = ({ bytes }: Counted): number => Math.max(0, LOG_BYTES_MAX - bytes)

function count(counted: Counted, chunk: number, cost: number): void {
  counted.bytes += cost - (counted.costs.get(chunk) ?? 0)
  counted.costs.set(chunk, cost)
}

/** The same number again is the same chunk, whoever stored it first. */
async function createChunk({ store, clock }: WriteOnce, name: string, bytes: Uint8Array): Promise<void> {
  let failure: unknown
  for (let attempt = 0; attempt <= TRIES_DELAYS_MS.length; attempt++) {
    if (attempt > 0) await clock.sleep(TRIES_DELAYS_MS[attempt - 1] ?? 0)
    try {
      const { kind } = await store.put(name, bytes, { if_generation: CREATE })
      if (kind === 'stored' || kind === 'precondition_failed') return
      failure = kind
    } catch (error) {
      if (!isOperatingError(error, 'unavailable')) throw error
      failure = error
    }
  }
  throw unavailable(`${name} could not be written to ${store.label} (${messageOf(failure)}). Send the chunk again.`, failure)
}

function countedOf({ log_counts }: LogDeps, { attempt_id }: Attempt): Counted {
  const counted = log_counts.get(attempt_id) ?? { costs: new Map(), bytes: 0, unasked_bytes: 0, listing: undefined, under_way: new Map() }
  remember(log_counts, attempt_id, counted, COUNTS_MAX)
  return counted
}

const isListingDue = ({ costs, unasked_bytes }: Counted, chunk: number): boolean =>
  !costs.has(chunk) && (unasked_bytes <= 0 || (chunk > 0 && !costs.has(chunk - 1)))

function lookAgain(deps: LogDeps, attempt: Attempt, counted: Counted): Promise<void> {
  counted.listing ??= listChunks(deps, attempt, counted).finally(() => {
    counted.listing = undefined
  })
  return counted.listing
}

/** Chunks are never deleted: what was counted and is not listed is on its way. */
async function listChunks({ store }: WriteOnce, attempt: Attempt, counted: Counted): Promise<void> {
  const folder = logFolder(attempt)
  for await (const { objects } of listPages(store, folder)) {
    for (const { name, size } of objects) count(counted, Number(name.slice(folder.length).replace('.ndjson', '')), costOf(size))
  }
  counted.unasked_bytes = LOG_COUNTED_BYTES_MAX
}
