// Whether the page of a schedule's loop says what is not so any more, by what a list of loops has of it. What lists say lags
// by seconds, and a poke too many costs a look; a name and a zone are not in it.

import type { Schedule } from '../../readers/schedules.js'
import { undecidedAt } from './report.js'

export type ListedLoop = { readonly status: string | undefined; readonly next_fire_at: number | null }

/** `now` is the store's, and not before the list was made. */
export function isStale(listed: ListedLoop, schedule: Schedule, now: number): boolean {
  const { status } = schedule.state
  // ERROR is of an active one.
  if (status !== 'ACTIVE') return listed.status !== status && listed.status !== 'ERROR' && listed.status !== 'STARTING'
  if (listed.status === 'PAUSED') return true
  return isOtherFire(listed, schedule, now)
}

function isOtherFire({ status, next_fire_at }: ListedLoop, schedule: Schedule, now: number): boolean {
  // A call that failed before the first answer leaves none, and is made again by itself.
  if (status !== 'ACTIVE' && (status !== 'ERROR' || next_fire_at === null)) return false
  // What has fired is looked at after its turn, one loop after the other: pokes would bring them all at once.
  if (next_fire_at !== null && next_fire_at <= now) return false
  return undecidedAt(schedule) !== next_fire_at
}
