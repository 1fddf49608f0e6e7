import { reconcileDispatch } from '../dispatch.js'
import { reconcileLost } from '../lost.js'
import { nextTaskAt } from '../task-due.js'
import type { Noun } from './noun.js'

export const TASK = {
  reconcile: (state, identity) => [...reconcileLost(state), ...reconcileDispatch(state, identity)],
  wakeAt: nextTaskAt,
} satisfies Noun
