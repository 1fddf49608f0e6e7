// The instants of a cron expression that no other expression names. Unions can be counted, and so can what is left out of
// them: all instants less those of the others, both by arithmetic. What is left is found by its number by halving.

import type { CronExpression } from '../core/cron/expression.js'
import { openTicks, type Ticks } from '../core/cron/ticks.js'

export type KeptTicks = Pick<Ticks, 'count' | 'nth'>

/** `own` are the instants of the expression alone. */
export function openKeptTicks(own: Ticks, expression: CronExpression, others: readonly CronExpression[], zone: string): KeptTicks {
  if (others.length === 0) return own
  const all = openTicks([expression, ...others], zone)
  const left_out = openTicks(others, zone)
  const count = (from_ms: number, to_ms: number): number => all.count(from_ms, to_ms) - left_out.count(from_ms, to_ms)

  return {
    count,
    nth(from_ms, number) {
      /** Whether the kept one with this number is among the first `place` + 1. */
      const isReached = (place: number): boolean => {
        const at_ms = own.nth(from_ms, place)
        return at_ms === null || count(from_ms, at_ms + 1) > number
      }
      let low = number
      let step = 1
      while (!isReached(low + step - 1)) {
        low += step
        step *= 2
      }
      let high = low + step - 1
      while (low < high) {
        const middle = low + Math.floor((high - low) / 2)
        if (isReached(middle)) high = middle
        else low = middle + 1
      }
      return own.nth(from_ms, low)
    },
  }
}
