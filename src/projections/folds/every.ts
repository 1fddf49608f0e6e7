// Every event's part in the fold, by type.

import type { EventType, LedgerEvent } from '../../events/event.js'
import { ASSET_FOLDS } from './asset.js'
import { DEPLOY_JUDGE } from './deploy.js'
import type { BatchJudge, EventFold, FoldsOf } from './event-fold.js'
import { RETENTION_FOLDS } from './retention.js'
import { PLAN_JUDGE, RUN_FOLDS } from './run.js'
import { SCHEDULE_FOLDS } from './schedule.js'
import { TASK_FOLDS } from './task.js'

const FOLDS = { ...ASSET_FOLDS, ...RETENTION_FOLDS, ...SCHEDULE_FOLDS, ...RUN_FOLDS, ...TASK_FOLDS } satisfies FoldsOf<LedgerEvent>

/** The entry of the event's own type takes the event: the compiler cannot follow that through a look-up. */
export const foldOf = ({ event_type }: { readonly event_type: EventType }): EventFold<LedgerEvent> =>
  FOLDS[event_type] as unknown as EventFold<LedgerEvent>

/** In the order in which they are asked. */
export const BATCH_JUDGES: readonly BatchJudge[] = [DEPLOY_JUDGE, PLAN_JUDGE]
