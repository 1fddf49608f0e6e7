// The events of a workspace's settings.

import type { RetentionEvent } from '../../events/retention.js'
import { foldRetentionChanged } from '../retention-settings.js'
import type { FoldsOf } from './event-fold.js'

export const RETENTION_FOLDS = {
  RetentionChanged: {
    entity: ({ workspace_id }) => ({ entity_kind: 'WORKSPACE', entity_id: workspace_id }),
    fold: foldRetentionChanged,
  },
} satisfies FoldsOf<RetentionEvent>
