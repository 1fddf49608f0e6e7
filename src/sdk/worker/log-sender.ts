// Lines of one attempt on their way to the API: gathered into chunks, sent one after the other, never in the way of the
// code that writes them. Whatever goes wrong here is said in the worker's own log, and the attempt goes on.

import { type LogLine, type LogsRequest, logsResponse } from '../../api/contract/worker.js'
import { LOG_BYTES_MAX, LOG_LINES_PER_CHUNK_MAX } from '../../core/limits.js'
import type { Logger } from '../context.js'
import { describe, isTaken } from './call.js'
import { logLineOf } from './log-line.js'
import { pause } from './pause.js'
import type { CallAnswer } from './post-json.js'

type LogSenderOptions = {
  /** Sends one chunk until it is answered, or until `hurry` is aborted. */
  readonly send: (chunk: Pick<LogsRequest, 'chunk' | 'lines'>, hurry: AbortSignal) => Promise<CallAnswer>
  readonly now: () => number
  readonly onConflict: () => void
  readonly log: (message: string) => void
  /** Aborted when the worker is closed: what is not sent then never is. */
  readonly closed: AbortSignal
  readonly flush_after_ms?: number
  /** How long the end of the attempt waits for its last lines. */
  readonly close_within_ms?: number
}

export type LogSender = {
  readonly logger: Logger
  /** Sends what is left; lines that are written afterwards go nowhere. */
  readonly close: () => Promise<void>
}

const CHUNK_BYTES = 256 * 1_024
const FLUSH_AFTER_MS = 1_000
const CLOSE_WITHIN_MS = 10_000

export function createLogSender(options: LogSenderOptions): LogSender {
  const { now, log, flush_after_ms = FLUSH_AFTER_MS, close_within_ms = CLOSE_WITHIN_MS } = options
  const hurry = new AbortController()
  const giveUp = () => hurry.abort()
  options.closed.addEventListener('abort', giveUp)
  let lines: LogLine[] = []
  let bytes = 0
  // While the API does not answer, lines are kept in memory: no more of them than it would take.
  let written_left = LOG_BYTES_MAX
  let isFull = false
  let chunk_count = 0
  let isOpen = true
  let timer: NodeJS.Timeout | undefined
  let last: Promise<void> = Promise.resolve()

  const sendChunk = async (chunk: number, taken: readonly LogLine[]): Promise<void> => {
    if (isFull) return
    const answer = await options.send({ chunk, lines: taken }, hurry.signal)
    if (isTaken(answer)) {
      const read = logsResponse.safeParse(answer.kind === 'answered' ? answer.body : undefined)
      if (read.success && read.data.bytes_left === 0) isFull = true
      return
    }
    const status = answer.kind === 'answered' ? answer.status : undefined
    if (status === 409) options.onConflict()
    if (status === 409 || status === 413) isFull = true
    log(`Chunk ${chunk} of the log ${describe(answer)}`)
  }

  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (lines.length === 0) return
    const taken = lines
    const chunk = chunk_count++
    lines = []
    bytes = 0
    last = last
      .then(() => sendChunk(chunk, taken))
      .catch((error: unknown) => log(`Chunk ${chunk} of the log was not sent: ${String(error)}`))
  }

  const write = (level: LogLine['level']) => (message: string, fields?: unknown) => {
    if (!isOpen || isFull || written_left <= 0) return
    const line = logLineOf(now(), level, message, fields)
    const size = JSON.stringify(line).length + 1
    if (bytes > 0 && bytes + size > CHUNK_BYTES) flush()
    lines.push(line)
    bytes += size
    written_left -= size
    if (bytes >= CHUNK_BYTES || lines.length >= LOG_LINES_PER_CHUNK_MAX || written_left <= 0) flush()
    else timer ??= setTimeout(flush, flush_after_ms)
  }

  return {
    logger: { debug: write('DEBUG'), info: write('INFO'), warn: write('WARN'), error: write('ERROR') },
    async close() {
      isOpen = false
      flush()
      const sent = last
      const done = new AbortController()
      void sent.then(() => done.abort())
      await pause(close_within_ms, done.signal)
      // The call that is under way ends by its own time-out, and its chunks are not repeated.
      if (!done.signal.aborted) isFull = true
      hurry.abort()
      await sent
      options.closed.removeEventListener('abort', giveUp)
    },
  }
}
