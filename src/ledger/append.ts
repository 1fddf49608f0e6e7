// Appends batches of events as one create-only segment, and answers only when they are durable. It never overwrites,
// never deletes, and never takes silence for success: after anything but a plain 200 it looks at what is there.

import { assert, isOperatingError, messageOf, unavailable } from '../core/errors.js'
import { keysSha256, segmentMinute, segmentNameAt } from '../core/keys.js'
import { CREATION_SKEW_MS_MAX, SEGMENT_BYTES_MAX } from '../core/limits.js'
import { type Clock, instantText, MINUTE_MS, stampMs } from '../core/time.js'
import { newUlid, type RandomBytes } from '../core/ulid.js'
import type { LedgerEvent } from '../events/event.js'
import { CREATE, type ObjectHead, type ObjectStore } from '../storage/object-store.js'
import { inSpan, type Tracing } from '../telemetry/tracing.js'
import { divergentKeys } from './divergence.js'
import { type EventBatch, encodeSegment, type PackedBatch, packBatch, segmentMeta, segmentName, segmentObjectName } from './segment.js'

export type AppendAnswer = {
  /** `duplicate`: a segment with exactly these keys and bases was durable already. */
  readonly kind: 'appended' | 'duplicate'
  readonly head: ObjectHead
  /** The bytes as this process sent them; absent where another's bytes are the stored ones. */
  readonly bytes?: Uint8Array
}

export type AppenderDeps = {
  readonly store: ObjectStore
  readonly scope: { readonly tenant_id: string; readonly workspace_id: string }
  readonly clock: Clock
  readonly random: RandomBytes
  /** The last minute that a turn has closed, epoch milliseconds: nobody names a segment at or below it. */
  readonly closedThrough: () => number
  /** The store's time at this moment, by an answer that this process has just had: events are stamped and segments are named by
   *  it until the next answer, because this machine's clock may be wrong by hours. */
  readonly server_time: number
  readonly log?: (message: string) => void
  /** Told of each segment that was written, or given up: for whoever counts them. */
  readonly onAppend?: (appended: AppendEnd) => void
  readonly tracing?: Tracing | undefined
}

export type AppendEnd = { readonly outcome: AppendAnswer['kind'] | 'failed'; readonly duration_ms: number; readonly tries: number }

export type Appender = {
  /** Resolves when the batch is durable. Throws `unavailable` when nothing is known to be durable: append it again. */
  readonly append: (batch: readonly LedgerEvent[]) => Promise<AppendAnswer>
  /** Several batches in one segment of their own, without waiting for other callers. */
  readonly appendTogether: (batches: readonly (readonly LedgerEvent[])[]) => Promise<AppendAnswer>
  /** The store's time by its last answer, and what has passed since: events are stamped with it. */
  readonly now: () => number
}

/** How full a segment is filled with batches; the rest is for what surrounds them. */
export const GROUP_SHARE = 0.9
/** Longer than any hiccup that a client would sit through; a caller tries again with the same keys after it. */
const APPEND_DEADLINE_MS = 20_000
const RETRY_FIRST_MS = 25
const RETRY_LONGEST_MS = 1_000

type Waiting = {
  readonly batch: PackedBatch
  readonly resolve: (answer: AppendAnswer) => void
  readonly reject: (error: unknown) => void
}

export function createAppender(deps: AppenderDeps): Appender {
  const { write: writeSegment, storeTime } = createSegmentWriter(deps)
  const queue: Waiting[] = []
  let isWriting = false

  async function write(batches: readonly PackedBatch[]): Promise<AppendAnswer> {
    const began = deps.clock.elapsed()
    let tries = 0
    const end = (outcome: AppendEnd['outcome']) => deps.onAppend?.({ outcome, duration_ms: deps.clock.elapsed() - began, tries })
    try {
      const answer = await writeSegment(batches, () => {
        tries += 1
      })
      end(answer.kind)
      return answer
    } catch (error) {
      end('failed')
      throw error
    }
  }

  // The first caller goes at once; those that arrive while it is in flight go together next. Nobody waits for company.
  async function drain(): Promise<void> {
    if (isWriting) return
    isWriting = true
    try {
      // Callers of the same moment have all spoken when this goes on.
      await undefined
      while (queue.length > 0) await writeGroup(takeGroup())
    } finally {
      isWriting = false
    }
  }

  function takeGroup(): Waiting[] {
    let size = 0
    let count = 0
    for (const { batch } of queue) {
      if (count > 0 && size + batch.bytes > SEGMENT_BYTES_MAX * GROUP_SHARE) break
      size += batch.bytes
      count += 1
    }
    return queue.splice(0, count)
  }

  async function writeGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const answer = await write(group.map(({ batch }) => batch))
      for (const waiting of group) waiting.resolve(answer)
    } catch (error) {
      for (const waiting of group) waiting.reject(error)
    }
  }

  return {
    append(events) {
      const batch = packBatch(events, deps.scope)
      const queued = () =>
        new Promise<AppendAnswer>((resolve, reject) => {
          queue.push({ batch, resolve, reject })
          void drain()
        })
      if (deps.tracing === undefined) return queued()
      return inSpan(deps.tracing, 'append', { 'servo.event_count': events.length }, async (span) => {
        const answer = await queued()
        span?.add({ 'servo.segment_name': segmentName(answer.head.name), 'servo.answer': answer.kind })
        return answer
      })
    },
    appendTogether: async (batches) => write(batches.map((events) => packBatch(events, deps.scope))),
    now: storeTime,
  }
}

type SegmentWriter = {
  readonly write: (batches: readonly PackedBatch[], onTry: () => void) => Promise<AppendAnswer>
  readonly storeTime: () => number
}

function createSegmentWriter({ store, scope, clock, random, closedThrough, server_time: heard, log }: AppenderDeps): SegmentWriter {
  /** The store's last answer: names and stamps are made of its time, and not of this machine's. */
  let last = { server_time: heard, at: clock.elapsed() }
  const noteTime = (server_time: number) => {
    last = { server_time, at: clock.elapsed() }
  }
  // What has passed since is counted by the clock that nobody sets: a machine whose own is corrected stamps no word wrong.
  const storeTime = () => store.now?.() ?? Math.floor(last.server_time + clock.elapsed() - last.at)
  const currentMinute = () => segmentMinute(storeTime(), closedThrough())

  /** What is under the name, when it holds the same keys: durable, ours or somebody's. */
  async function find(name: string, keys_sha256: string): Promise<ObjectHead | 'absent' | 'other'> {
    const answer = await store.head(name)
    noteTime(answer.server_time)
    if (answer.kind === 'absent') return 'absent'
    return answer.head.meta['keys_sha256'] === keys_sha256 ? answer.head : 'other'
  }

  /** What was said first stands; that somebody said something else under the same keys is worth a line. */
  async function noteDivergence(head: ObjectHead, events: readonly LedgerEvent[]): Promise<void> {
    if (log === undefined) return
    try {
      const keys = await divergentKeys(store, scope, head, events)
      if (keys.length > 0) log(`payload_divergence: ${head.name} was there first and says otherwise under ${keys.slice(0, 3).join(', ')}.`)
    } catch (error) {
      if (!isOperatingError(error)) throw error
      log(`${head.name} was there first, and could not be compared with what was appended: ${messageOf(error)}`)
    }
  }

  async function tryPut(name: string, bytes: Uint8Array, meta: Readonly<Record<string, string>>) {
    try {
      const answer = await store.put(name, bytes, { if_generation: CREATE, meta })
      noteTime(answer.server_time)
      return answer
    } catch (error) {
      if (isOperatingError(error, 'unavailable')) return { kind: 'unknown', error } as const
      throw error
    }
  }

  async function write(batches: readonly PackedBatch[], onTry: () => void): Promise<AppendAnswer> {
    assert(batches.length > 0, 'An append without a batch.')
    const events = batches.flatMap((batch) => batch.events)
    const write_id = newUlid(clock.now(), random)
    const segmentBatches: EventBatch[] = batches.map(({ events, json }) => ({ batch_id: newUlid(clock.now(), random), events, json }))
    const started = clock.elapsed()
    let salt = 0
    const keys_sha256 = keysSha256(scope, events)
    const objectNameAt = (minute: number, salted: number) => segmentObjectName(segmentNameAt(minute, keys_sha256, salted))
    const acknowledge = async (head: ObjectHead): Promise<AppendAnswer> => {
      if (head.meta['write_id'] === write_id) return { kind: 'appended', head }
      await noteDivergence(head, events)
      return { kind: 'duplicate', head }
    }
    let lastFailure: unknown
    // A process that was paused for longer than the deadline learns only now that its write came too late.
    let tries_left = 1
    for (let attempt = 0; clock.elapsed() - started < APPEND_DEADLINE_MS || tries_left > 0; attempt++) {
      tries_left -= 1
      onTry()
      if (attempt > 0) await clock.sleep(Math.min(RETRY_FIRST_MS * 2 ** (attempt - 1), RETRY_LONGEST_MS))
      const minute = currentMinute()
      const name = objectNameAt(minute, salt)
      const bytes = encodeSegment({ ...scope, write_id, written_at: instantText(storeTime()), batches: segmentBatches })
      const meta = segmentMeta({ keys_sha256, write_id, batches: segmentBatches })
      const before = objectNameAt(minute - MINUTE_MS, salt)
      try {
        const [twin, answer] = await Promise.all([find(before, keys_sha256), tryPut(name, bytes, meta)])
        if (isDurable(twin, minute - MINUTE_MS)) return acknowledge(twin)
        if (answer.kind === 'stored') {
          if (!answer.late && isInItsMinute(answer.head, minute)) return { kind: 'appended', head: answer.head, bytes }
          lastFailure = `created at ${answer.head.creation_time}, too far from the minute in its name`
          if (attempt === 0) tries_left = 1
          continue
        }
        lastFailure = answer.kind === 'unknown' ? answer.error : answer.kind
        const found = await find(name, keys_sha256)
        if (found === 'other') salt += 1
        else if (isDurable(found, minute)) return acknowledge(found)
      } catch (error) {
        if (!isOperatingError(error, 'unavailable')) throw error
        lastFailure = error
      }
    }
    throw unavailable(
      `${events.length} events were not acknowledged by ${store.label} within ${APPEND_DEADLINE_MS / 1_000} s ` +
        `(${typeof lastFailure === 'string' ? lastFailure : messageOf(lastFailure)}). They may or may not be there; append them again with the same keys.`,
      lastFailure,
    )
  }

  return { write, storeTime }
}

const isDurable = (found: ObjectHead | 'absent' | 'other', minute: number): found is ObjectHead =>
  typeof found === 'object' && isInItsMinute(found, minute)

/** An object that was created far from the minute in its name may lie behind what a turn has closed: it does not count. */
const isInItsMinute = (head: ObjectHead, minute: number): boolean => Math.abs(stampMs(head.creation_time) - minute) <= CREATION_SKEW_MS_MAX
