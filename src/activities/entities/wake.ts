// When the loop of an entity looks again, and how far off the next fire in lists may be. Pure.

import { sha256Words } from '../../core/hash.js'
import {
  ENTITY_LOOK_AFTER_MS,
  ENTITY_LOOK_APART_MS,
  ENTITY_LOOK_EVERY_MS_MAX,
  ENTITY_LOOK_OFTEN_MS,
  ENTITY_LOOK_SPREAD_MS_MAX,
  ENTITY_OFTEN_MS,
} from '../../core/loop-limits.js'

/** `due`: the first two instants that no decision covers. */
export const firesOften = ([first, second]: readonly number[]): boolean =>
  first !== undefined && second !== undefined && second - first < ENTITY_OFTEN_MS

/** An attribute of a loop is changed where an operator notices: each change is paid. */
export const nextFireSlackMs = (due: readonly number[]): number => (firesOften(due) ? ENTITY_OFTEN_MS : 0)

type Moment = {
  /** The store's time. */
  readonly now: number
  /** Entities of the kind in the workspace. */
  readonly count: number
  /** The page has its first fire: until then its next look is after it. */
  readonly has_fired: boolean
}

/** After the turn that is due then, one loop after the other; of an entity that fires often, every few minutes. */
export function wakeInMs(entity_id: string, due: readonly number[], { now, count, has_fired }: Moment): number {
  const share = sha256Words(entity_id).first / 2 ** 32
  const spread = share * Math.min(ENTITY_LOOK_SPREAD_MS_MAX, count * ENTITY_LOOK_APART_MS)
  // The upper half of it: loops that wait for nothing do not look at the same time either.
  const longest = ENTITY_LOOK_EVERY_MS_MAX * (1 - share / 2)
  const [first] = due
  if (first === undefined) return Math.round(longest)
  const after_fire = first - now + ENTITY_LOOK_AFTER_MS + spread
  return Math.round(Math.min(longest, has_fired && firesOften(due) ? Math.max(ENTITY_LOOK_OFTEN_MS + spread, after_fire) : after_fire))
}
