// What runs bring to the turn: their plans.

import { RUN_TALLY } from '../../projections/tallies/run.js'
import { reconcilePlan } from '../plan.js'
import { planNeeds } from '../plan-definitions.js'
import type { Noun } from './noun.js'

export const RUN = { reconcile: reconcilePlan, needs: planNeeds, tally: RUN_TALLY } satisfies Noun
