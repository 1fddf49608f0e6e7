// The kinds of entities that have loops. What is done for each of them (pokes after a publish, looks after the loops) is done by this list.

import type { EntityKind } from './kind.js'
import { SCHEDULE_KIND } from './schedule.js'

/** A function instead of an array, because each kind has an entity of its own type. */
export const everyKind = <Result>(use: <Entity>(kind: EntityKind<Entity, never>) => Result): readonly Result[] => [use(SCHEDULE_KIND)]
