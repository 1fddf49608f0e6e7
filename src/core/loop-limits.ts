// Bounds of the loops in Temporal: how soon and how often they look, how many at once, and how long a run of one is.

import { HOUR_MS, MINUTE_MS, SECOND_MS } from './time.js'

/** After an instant, until the loop of an entity looks for itself: by then the turn that decided it is published, as a rule, and
 *  the look costs that turn nothing. A loop that finds nothing decided calls for a turn. */
export const ENTITY_LOOK_AFTER_MS = 2 * SECOND_MS
/** Loops that are due at one instant look one after the other, this far apart: a dev server on two cores carries about 160
 *  looks a second, and half of it is left to the turn and to what it starts. */
export const ENTITY_LOOK_APART_MS = 12
export const ENTITY_LOOK_SPREAD_MS_MAX = 45 * SECOND_MS
/** An entity that fires more often than this does it too often for a look after each fire, which costs three paid actions of Temporal
 *  Cloud. In lists, its next fire may be this far off. */
export const ENTITY_OFTEN_MS = 5 * MINUTE_MS
/** How often the loop of such an entity looks: 144 times a day at three actions, and a thousand of them stay below 450,000 actions a day.
 *  Every five minutes, the attribute that lists show would cost half an action more for each look: 730,000. */
export const ENTITY_LOOK_OFTEN_MS = 10 * MINUTE_MS
/** What is paused, far away or unknown is looked at all the same: a poke may have been lost. */
export const ENTITY_LOOK_EVERY_MS_MAX = 6 * HOUR_MS
/** Until a loop looks again for an entity that is not there yet. */
export const ENTITY_WAITING_MS = MINUTE_MS
/** Looks of a loop before it begins a new run. After a restart every loop is replayed: fifty looks are some 600 events, where Temporal
 *  would suggest a new run at 4,096. */
export const ENTITY_LOOKS_A_RUN = 50
/** How long a call waits for a turn; beyond it the loop says that none came, and backs off. */
export const ENTITY_CALL_WAIT_MS_MAX = 20 * SECOND_MS
/** Fires that the page of a schedule's loop names. */
export const SCHEDULE_FIRES_SHOWN = 5
/** Calls that wait in one process: as many as may be due at one instant, and each holds next to nothing. */
export const ENTITY_CALLS_AT_ONCE = 1_000
/** Loops that a process keeps in memory, some 0.1 MB each. One that is not kept is replayed from its history with each look, so all
 *  loops of the workspace are kept, and a quarter more for those that come while the process lives; of very many the process keeps
 *  half a gigabyte, and the others are replayed, which is short (ENTITY_LOOKS_A_RUN). */
export const CACHED_LOOPS_MIN = 1_100
export const CACHED_LOOPS_MAX = 5_000
export const cachedLoops = (loop_count: number): number =>
  Math.min(CACHED_LOOPS_MAX, Math.max(CACHED_LOOPS_MIN, Math.ceil(loop_count * 1.25)))
/** Loops that one process starts or pokes at the same time: half of what a dev server takes before others wait for it. */
export const LOOP_SIGNALS_AT_ONCE = 16
/** Between two lists of all loops, while their counts are as expected: at 100,000 loops a list is a hundred calls, and Temporal Cloud
 *  allows 30 a second. */
export const LOOPS_LISTED_EVERY_MS = HOUR_MS
/** After another process has published: one that died before it poked loops is rare, and its pokes are made good by then. */
export const LOOPS_LISTED_SOON_MS = 10 * MINUTE_MS
/** Turns of a workspace's loop before it begins anew. A poke that comes just then takes the new beginning back, and the loop is
 *  replayed: of 4,096 events, where Temporal would suggest it, that took longer than a workflow task may, again and again. */
export const WORKSPACE_TURNS_A_RUN = 100

/** An automation that could not begin, or lost its workers, tries again after this, doubled up to the longest: a server that
 *  is started again is there within seconds, and one look each ten seconds costs it nothing. */
export const SESSION_RETRY_FIRST_MS = SECOND_MS
export const SESSION_RETRY_LONGEST_MS = 10 * SECOND_MS
/** Workers that lived for this long were well: what ends them then is a new trouble, and the first wait is short again. */
export const SESSION_WELL_AFTER_MS = MINUTE_MS
/** A setting that a server refuses ends a process that has never worked after this: a proxy that is starting may refuse
 *  everything for a moment, and an operator waits half a minute at most for the exit code. */
export const WRONG_SETTING_AFTER_MS = 10 * SECOND_MS
/** For the workers to end: activities have ten seconds, and five more pass until the SDK gives up. What is left then would share
 *  memory with the workers that follow, so the process ends instead. */
export const SESSION_CLOSE_MS_MAX = 30 * SECOND_MS
/** For a call of Temporal that looks whether everything is there. */
export const TEMPORAL_LOOK_MS_MAX = 5 * SECOND_MS
/** A turn that is under way when its process is to stop ends by itself, within a second as a rule. One that takes longer waits for
 *  a store, and is left: together with what follows the process ends within ten seconds. */
export const TURN_ENDS_MS_MAX = 5 * SECOND_MS
/** What was handed over or pushed and is not answered when the workers have ended: it is sent again by the next process. */
export const SETTLE_MS_MAX = 2 * SECOND_MS
