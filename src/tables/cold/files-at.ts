// Every file that has rows of a table at a revision: for those who read a table whole, whatever its age.

import type { TableName } from '../../projections/tables.js'
import type { ObjectStore } from '../../storage/object-store.js'
import type { Part } from '../revision.js'
import { filesAbove, type Snapshot } from '../snapshot.js'
import { allColdParts } from './find.js'
import type { ColdPart } from './list.js'

export type FileAt = Part & Partial<Pick<ColdPart, 'day' | 'is_late'>>

/** They overlap: of a key the highest row_version counts. */
export const filesAt = async (store: ObjectStore, snapshot: Snapshot, table: TableName): Promise<readonly FileAt[]> => [
  ...(await allColdParts({ store, checkpoint: snapshot.checkpoint, table })),
  ...filesAbove(snapshot, table),
]
