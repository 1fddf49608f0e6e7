// Tells whether a loop's page in Temporal is out of date, judging by its search attributes. Lists lag by seconds, and a poke too
// many costs a look.

import type { EntityKind } from './kind.js'
import { nextFireSlackMs } from './wake.js'

export type ListedLoop = { readonly status: string | undefined; readonly next_fire_at: number | null }

/** Such a loop looks again by itself, and soon. */
const LOOKING = ['STARTING', 'WAITING']

/** `now` is the store's, and not before the list was made. */
export function isStale<Entity>(
  { describe, dueAt }: Pick<EntityKind<Entity, never>, 'describe' | 'dueAt'>,
  listed: ListedLoop,
  entity: Entity,
  now: number,
): boolean {
  const { status } = describe(entity)
  if (listed.status === undefined || LOOKING.includes(listed.status)) return false
  if (listed.status !== status && listed.status !== 'ERROR') return true
  return isOtherFire(listed, dueAt(entity), now)
}

/** As the loop judges whether to change its attribute (workflows/loop.ts). */
function isOtherFire({ status, next_fire_at }: ListedLoop, due: readonly number[], now: number): boolean {
  // A call that failed before the first answer leaves none, and is made again by itself.
  if (status === 'ERROR' && next_fire_at === null) return false
  // What has fired is looked at after its turn, one loop after the other: pokes would bring them all at once.
  if (next_fire_at !== null && next_fire_at <= now) return false
  const [first] = due
  if (first === undefined || next_fire_at === null) return (first ?? null) !== next_fire_at
  return Math.abs(first - next_fire_at) > nextFireSlackMs(due)
}
