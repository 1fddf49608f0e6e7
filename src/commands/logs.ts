// What an attempt logs: chunks of lines, each a create-only object. Logs are no facts: nothing is decided by them, and what
// is beyond the limit is refused. Every object of the attempt counts, whatever number the worker gives it.

import { isOperatingError, messageOf, unavailable } from '../core/errors.js'
import { logChunkName, logFolder } from '../core/keys.js'
import { LOG_BYTES_MAX, LOG_CHUNK_BYTES_MAX, LOG_CHUNK_BYTES_MIN, LOG_CHUNKS_MAX } from '../core/limits.js'
import type { TokenClaims } from '../core/token.js'
import { CREATE } from '../storage/object-store.js'
import type { WriteOnce } from '../storage/write-once.js'
import { type Problem, problem } from './problem.js'

/** What each attempt has stored, by attempt id: listed once, then counted. Processes that serve one attempt at the same time
 *  do not see each other's chunks, so that the limit is that of each; one that takes over has listed what is there. */
export type LogCounts = Map<string, Promise<Stored>>
type Stored = { bytes: number; readonly chunks: Set<number> }

export type LogDeps = WriteOnce & { readonly log_counts: LogCounts }

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
  const stored = await countOf(deps, attempt)
  if (stored.chunks.has(chunk)) return { bytes_left: leftOf(stored) }
  const cost = costOf(bytes.length)
  if (stored.bytes + cost > LOG_BYTES_MAX) {
    return problem(
      'too-large',
      `This attempt has logged ${stored.bytes} of ${LOG_BYTES_MAX} bytes, and the chunk does not fit. Send no more, and write less or elsewhere.`,
    )
  }
  // Taken before the write: chunks that come at the same time see each other.
  stored.bytes += cost
  stored.chunks.add(chunk)
  try {
    await createChunk(deps, logChunkName(attempt, chunk), bytes)
  } catch (error) {
    // It may be there or not: the next chunk lists again.
    deps.log_counts.delete(attempt.attempt_id)
    throw error
  }
  return { bytes_left: leftOf(stored) }
}

const costOf = (bytes: number): number => Math.max(bytes, LOG_CHUNK_BYTES_MIN)
const leftOf = ({ bytes }: Stored): number => Math.max(0, LOG_BYTES_MAX - bytes)

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

function countOf(deps: LogDeps, attempt: Attempt): Promise<Stored> {
  const { log_counts } = deps
  const { attempt_id } = attempt
  const known = log_counts.get(attempt_id) ?? listChunks(deps, attempt)
  // The youngest last, so that the oldest goes.
  log_counts.delete(attempt_id)
  log_counts.set(attempt_id, known)
  known.catch(() => log_counts.delete(attempt_id))
  for (const oldest of log_counts.keys()) {
    if (log_counts.size <= COUNTS_MAX) break
    log_counts.delete(oldest)
  }
  return known
}

async function listChunks({ store }: WriteOnce, attempt: Attempt): Promise<Stored> {
  const folder = logFolder(attempt)
  const stored: Stored = { bytes: 0, chunks: new Set() }
  let after: string | undefined
  do {
    const { objects, next } = await store.list(folder, after)
    for (const { name, size } of objects) {
      stored.bytes += costOf(size)
      stored.chunks.add(Number(name.slice(folder.length).replace('.ndjson', '')))
    }
    after = next
  } while (after !== undefined)
  return stored
}
