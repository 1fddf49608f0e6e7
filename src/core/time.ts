// Instants are epoch milliseconds inside, RFC 3339 text in events. Creation stamps of objects keep the
// store's own precision (milliseconds or nanoseconds), and are compared as text of one store.

export const SECOND_MS = 1_000
export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

/** What everything that waits or reads a clock is given, so that tests run on virtual time. */
export type Clock = {
  /** Wall clock, epoch milliseconds. */
  readonly now: () => number
  /** Milliseconds that only move forward, for time budgets. */
  readonly elapsed: () => number
  /** Ends early when `until` is aborted, and leaves neither a timer nor a listener behind. */
  readonly sleep: (duration_ms: number, until?: AbortSignal) => Promise<void>
}

export const instantText = (at_ms: number): string => new Date(at_ms).toISOString()

/** Text that a schema has accepted as an instant; NaN never leaves a parser. */
export const instantMs = (text: string): number => Date.parse(text)

export const floorTo = (at_ms: number, unit_ms: number): number => Math.floor(at_ms / unit_ms) * unit_ms
export const ceilTo = (at_ms: number, unit_ms: number): number => Math.ceil(at_ms / unit_ms) * unit_ms

/** Creation stamps are of one store, so of one width: then the order of the text is the order of time.
 *  Two widths happen when a prefix was copied from another store; both are padded to nanoseconds. */
export function compareStamps(left: string, right: string): number {
  const a = left.length === right.length ? left : padStamp(left)
  const b = left.length === right.length ? right : padStamp(right)
  return a < b ? -1 : a > b ? 1 : 0
}

const padStamp = (stamp: string): string => {
  const whole = stamp.slice(0, 19)
  const fraction = stamp.slice(19, -1).replace('.', '')
  return `${whole}.${fraction.padEnd(9, '0')}Z`
}

/** The millisecond part of a creation stamp. */
export const stampMs = (stamp: string): number => Date.parse(`${padStamp(stamp).slice(0, 23)}Z`)
