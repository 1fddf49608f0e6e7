// What tasks bring to the turn: attempts that are dispatched, and those that are lost.

import { TASK_TALLY } from '../../projections/tallies/task.js'
import { reconcileDispatch } from '../dispatch.js'
import { reconcileLost } from '../lost.js'
import { nextTaskAt } from '../task-due.js'
import type { Noun } from './noun.js'

export const TASK = {
  reconcile: (state, identity) => [...reconcileLost(state), ...reconcileDispatch(state, identity)],
  wakeAt: nextTaskAt,
  tally: TASK_TALLY,
} satisfies Noun
