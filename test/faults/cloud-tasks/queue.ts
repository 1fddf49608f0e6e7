// One queue of the fake: names and how long they are remembered, when what is due, how fast and how many at once, and when
// it is tried again. Its time is given, and nothing in it waits.

import type { Random } from '../../fixtures/random.js'
import { millisecondsOf } from './rules.js'
import type { WireQueue, WireTask } from './wire.js'

/** How long the name of a task that is gone cannot be used again. */
export const NAME_KEPT_MS = 3_600_000

export type Waiting = {
  readonly task: WireTask
  due_at: number
  tries: number
  first_tried_at: number | undefined
  is_out: boolean
}

export type Trouble = {
  readonly random: Random
  /** From 0 to 1: how often a delivery that was taken is made once more, at some time. */
  readonly repeats?: number
  /** How often its answer is lost, so that it counts as a failure. */
  readonly lost?: number
  /** What is due goes out in any order. */
  readonly shuffles?: boolean
}

export type FakeQueue = ReturnType<typeof createFakeQueue>

export function createFakeQueue(initial: WireQueue, trouble: () => Trouble | undefined) {
  let settings = initial
  const waiting = new Map<string, Waiting>()
  /** Names that are gone, and until when they are remembered. */
  const gone = new Map<string, number>()
  let tokens = { count: burstOf(settings), at: 0 }

  const refill = (now: number): number => {
    const count = tokens.count + ((now - tokens.at) / 1_000) * settings.rateLimits.maxDispatchesPerSecond
    tokens = { count: Math.min(count, burstOf(settings)), at: now }
    return tokens.count
  }

  return {
    settings: () => settings,
    change: (changed: WireQueue) => {
      settings = changed
    },
    /** false: the name is in use, or was until a short while ago. */
    add(task: WireTask, now: number): boolean {
      if (waiting.has(task.name) || (gone.get(task.name) ?? 0) > now) return false
      const due_at = Math.max(now, task.scheduleTime === undefined ? now : millisecondsOf(task.scheduleTime))
      waiting.set(task.name, { task, due_at, tries: 0, first_tried_at: undefined, is_out: false })
      return true
    },
    remove(name: string, now: number): boolean {
      gone.set(name, now + NAME_KEPT_MS)
      return waiting.delete(name)
    },
    names: () => [...waiting.keys()],
    /** What goes out now, as many as the limits allow; each is out until it has ended. */
    take(now: number): Waiting[] {
      if (settings.state !== 'RUNNING') return []
      const out = [...waiting.values()].filter(({ is_out }) => is_out).length
      const places = Math.min(settings.rateLimits.maxConcurrentDispatches - out, Math.floor(refill(now)))
      const due = [...waiting.values()].filter(({ is_out, due_at }) => !is_out && due_at <= now)
      const { random, shuffles = false } = trouble() ?? {}
      const order = shuffles && random !== undefined ? shuffled(due, random) : due.sort((left, right) => left.due_at - right.due_at)
      const taken = order.slice(0, Math.max(0, places))
      tokens = { count: tokens.count - taken.length, at: now }
      for (const each of taken) {
        each.is_out = true
        each.tries += 1
        each.first_tried_at ??= now
      }
      return taken
    },
    ended(each: Waiting, isTaken: boolean, retry_after_ms: number, now: number): void {
      each.is_out = false
      if (!waiting.has(each.task.name)) return
      const { random, repeats = 0, lost = 0 } = trouble() ?? {}
      const isAgain = random !== undefined && (random.isTrue(repeats) || random.isTrue(lost))
      if (isTaken && !isAgain) {
        waiting.delete(each.task.name)
        gone.set(each.task.name, now + NAME_KEPT_MS)
      } else if (isSpent(each, settings, now)) {
        waiting.delete(each.task.name)
        gone.set(each.task.name, now + NAME_KEPT_MS)
      } else {
        each.due_at = now + Math.max(retry_after_ms, backoffMs(each.tries, settings))
      }
    },
    /** When something is due next; undefined: nothing waits. */
    nextDue(): number | undefined {
      const due = [...waiting.values()].filter(({ is_out }) => !is_out).map(({ due_at }) => due_at)
      return due.length === 0 ? undefined : Math.min(...due)
    },
    isOut: () => [...waiting.values()].some(({ is_out }) => is_out),
  }
}

/** Google picks it by the rate: 100 for the highest, 500 a second. */
const burstOf = ({ rateLimits }: WireQueue): number => Math.max(1, Math.ceil(rateLimits.maxDispatchesPerSecond / 5))

/** Both limits have to be reached, where there are both. */
function isSpent({ tries, first_tried_at = 0 }: Waiting, { retryConfig }: WireQueue, now: number): boolean {
  const { maxAttempts } = retryConfig
  const duration_ms = millisecondsOf(retryConfig.maxRetryDuration)
  return maxAttempts > 0 && tries >= maxAttempts && (duration_ms === 0 || now - first_tried_at >= duration_ms)
}

/** 10, 20, 40, 80, then 80 more each time, and no more than the longest (max_doublings 3). */
export function backoffMs(tries: number, { retryConfig }: Pick<WireQueue, 'retryConfig'>): number {
  const { maxDoublings } = retryConfig
  const least = millisecondsOf(retryConfig.minBackoff)
  const doubled = least * 2 ** Math.min(tries - 1, maxDoublings)
  const added = Math.max(0, tries - 1 - maxDoublings) * least * 2 ** maxDoublings
  return Math.min(doubled + added, millisecondsOf(retryConfig.maxBackoff))
}

function shuffled<T>(values: readonly T[], random: Random): T[] {
  const all = [...values]
  for (let at = all.length - 1; at > 0; at--) {
    const other = random.below(at + 1)
    ;[all[at], all[other]] = [all[other] as T, all[at] as T]
  }
  return all
}
