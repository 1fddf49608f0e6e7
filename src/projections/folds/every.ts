// Every event's part in the fold, by type; and who judges a batch before any part of it is folded.

import type { EventType, LedgerEvent } from '../../events/event.js'
import { assetJudge } from '../asset.js'
import { definitionJudge } from '../definitions.js'
import { SCHEDULE_DEFINITION } from '../schedule.js'
import { ASSET_FOLDS } from './asset.js'
import { deployJudge } from './deploy.js'
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
export const BATCH_JUDGES: readonly BatchJudge[] = [deployJudge([assetJudge, definitionJudge(SCHEDULE_DEFINITION)]), PLAN_JUDGE]
