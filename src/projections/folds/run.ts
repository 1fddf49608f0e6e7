// The events of runs and their plans.

import type { EventOf } from '../../events/event.js'
import type { RunEvent } from '../../events/run.js'
import type { ListReference } from '../../events/value.js'
import { type Moment, type Refusal, refusal } from '../outcome.js'
import { listReferenceOf } from '../partition.js'
import { foldPlanCreated, judgePlans, keysOfPlan } from '../plan.js'
import {
  foldPlanFailed,
  foldRunCancelRequested,
  foldRunRequested,
  judgeRunKey,
  keysOfRun,
  keysOfRunRequested,
  recordRunKeyConflict,
} from '../run.js'
import type { WorkingSet } from '../working-set.js'
import type { BatchJudge, Entity, FoldsOf } from './event-fold.js'

const runOf = ({ payload }: RunEvent): Entity => ({ entity_kind: 'RUN', entity_id: payload.run_id })

export const RUN_FOLDS = {
  RunRequested: {
    entity: runOf,
    keys: (event, rows, hints) => keysOfRunRequested(rows, event, hints.hasRival(event.payload.run_key)),
    may_name_more: true,
    lists: listsOfRequest,
    judge: judgeRequest,
    fold: foldRunRequested,
  },
  RunCancelRequested: { entity: runOf, keys: ({ payload }) => [keysOfRun(payload.run_id)], fold: foldRunCancelRequested },
  PlanCreated: {
    entity: runOf,
    keys: keysOfPlan,
    lists: ({ payload }) => payload.tasks.flatMap(({ p }) => listReferenceOf(p)),
    fold: foldPlanCreated,
  },
  PlanFailed: { entity: runOf, keys: ({ payload }) => [keysOfRun(payload.run_id)], fold: foldPlanFailed },
} satisfies FoldsOf<RunEvent>

/** A plan that was half taken could be neither finished nor planned again. */
export const PLAN_JUDGE: BatchJudge = {
  types: new Set(['PlanCreated'] as const),
  judge(rows, batch) {
    const judged = judgePlans(rows, batch)
    return ({ event_type }, index) => {
      if (event_type !== 'PlanCreated') return undefined
      const verdict = judged.get(index) ?? refusal('ILLEGAL_TRANSITION', { message: 'The page is no part of a whole plan.' })
      return verdict === 'whole' ? undefined : verdict
    }
  },
}

function judgeRequest(event: EventOf<'RunRequested'>, rows: WorkingSet, moment: Moment): 'duplicate' | Refusal | undefined {
  const holder = judgeRunKey(rows, event, moment.context)
  if (holder === 'free') return undefined
  if (holder !== 'duplicate') recordRunKeyConflict(rows, event, moment)
  return holder
}

function listsOfRequest({ payload }: EventOf<'RunRequested'>): readonly ListReference[] {
  const references = [...listReferenceOf(payload.partitions)]
  if ('list' in payload.assets) references.push(payload.assets.list)
  const pins = payload.definition_pins?.['list']
  if (typeof pins === 'object') references.push(pins)
  return references
}
