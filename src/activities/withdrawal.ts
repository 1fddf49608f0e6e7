// Takes back attempts that have not started: those whose run is to be cancelled, with the publish that shows it and again by the
// sweep for as long as they are out, and prefetched ones that wait in vain. Whether a worker is there, is busy or was ever asked
// makes no difference to it.

import type { Submit } from '../commands/submit.js'
import { type DispatchedTask, withdrawAttempts } from '../commands/withdraw.js'
import { messageOf } from '../core/errors.js'
import { PREFETCH_WAIT_MS_MAX } from '../core/limits.js'
import type { Clock } from '../core/time.js'
import type { ObjectStore } from '../storage/object-store.js'
import type { OutboxEntry } from './envelope.js'

type WithdrawalDeps = {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly submit: Submit
  readonly log: (message: string) => void
}

type Withdrawal = {
  /** `onPublish`: those that this process has not looked at yet. It never rejects: what fails is left to the sweep. */
  readonly onPublish: (sequence: number, cancelled: readonly OutboxEntry[]) => Promise<void>
  readonly sweep: (sequence: number, cancelled: readonly OutboxEntry[]) => Promise<void>
  /** Prefetched attempts that no worker keeps, or that have waited for too long. */
  readonly giveBack: (sequence: number, waiting: readonly OutboxEntry[]) => Promise<void>
}

/** Of what was handed out and has not started, what is still wanted, and what is to be taken back. */
export function partedByCancel(entries: readonly OutboxEntry[]): {
  readonly wanted: readonly OutboxEntry[]
  readonly cancelled: readonly OutboxEntry[]
} {
  const isCancelled = ({ task }: OutboxEntry) => task.cancel_requested_at !== null
  return { wanted: entries.filter((entry) => !isCancelled(entry)), cancelled: entries.filter(isCancelled) }
}

/** Whether it was prefetched, and has waited for a slot for as long as it may at this instant. */
export const hasWaitedLong = ({ outbox }: OutboxEntry, now: number): boolean =>
  outbox.prefetched === true && outbox.requested_at <= now - PREFETCH_WAIT_MS_MAX

export function createWithdrawal({ store, clock, submit, log }: WithdrawalDeps): Withdrawal {
  const deps = { ...submit, store, clock, start_logs: new Map() }
  /** Attempts that this process has seen with a publish, for as long as they are out. */
  let seen: ReadonlySet<string> = new Set()

  const withdraw = (sequence: number, entries: readonly OutboxEntry[], reason: 'cancelled' | 'not_started'): Promise<number> =>
    withdrawAttempts(
      deps,
      sequence,
      entries.map(({ outbox, task }): DispatchedTask => ({ ...task, attempt_id: outbox.attempt_id })),
      reason,
    )

  return {
    async onPublish(sequence, cancelled) {
      const fresh = cancelled.filter(({ outbox }) => !seen.has(outbox.attempt_id))
      seen = new Set(cancelled.map(({ outbox }) => outbox.attempt_id))
      if (fresh.length === 0) return
      try {
        await withdraw(sequence, fresh, 'cancelled')
      } catch (error) {
        log(`Attempts of cancelled runs could not be taken back now, and will be looked at again: ${messageOf(error)}`)
      }
    },
    async sweep(sequence, cancelled) {
      await withdraw(sequence, cancelled, 'cancelled')
    },
    async giveBack(sequence, waiting) {
      if (waiting.length > 0) await withdraw(sequence, waiting, 'not_started')
    },
  }
}
