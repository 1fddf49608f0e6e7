// A segment that was copied from another store keeps the place in the order that it had there: its metadata say when it was
// created, and as which generation. So a copy folds as the original would have, however much later it is opened.

import { CREATION_SKEW_MS_MAX } from '../core/limits.js'
import { stampMs } from '../core/time.js'
import type { ObjectHead, ObjectMeta } from '../storage/object-store.js'

export type Origin = Pick<ObjectHead, 'creation_time' | 'generation'>

/** Of a copy what it says of its original; of an original what its store says. */
export function originOf({ creation_time, generation, meta }: ObjectHead): Origin {
  const { origin_creation_time, origin_generation } = meta
  if (origin_creation_time === undefined || origin_generation === undefined) return { creation_time, generation }
  if (Number.isNaN(stampMs(origin_creation_time))) return { creation_time, generation }
  return { creation_time: origin_creation_time, generation: origin_generation }
}

export const sameOrigin = (one: Origin | undefined, other: Origin | undefined): boolean =>
  one?.creation_time === other?.creation_time && one?.generation === other?.generation

/** What a copy is given; a copy of a copy names the first of all. */
export const withOrigin = ({ meta }: ObjectHead, { creation_time, generation }: Origin): ObjectMeta => ({
  ...meta,
  origin_creation_time: creation_time,
  origin_generation: generation,
})

/** The head that counts where segments are folded. No copy is older than its original: who says so is not believed, or the
 *  fold's time could be moved ahead by anybody who may append. */
export function asOriginal<Head extends ObjectHead>(head: Head): Head {
  // Nearly all: a turn asks it of every segment of the minutes that are open.
  if (head.meta['origin_creation_time'] === undefined) return head
  const origin = originOf(head)
  if (stampMs(origin.creation_time) > stampMs(head.creation_time) + CREATION_SKEW_MS_MAX) return head
  return { ...head, ...origin }
}
