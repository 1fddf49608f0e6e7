// Every file that has rows of a table at a revision: for those who read a table whole, whatever its age.

import type { TableName } from '../../projections/tables.js'
import type { ObjectStore } from '../../storage/object-store.js'
import type { Part } from '../revision.js'
import { filesAbove, type Snapshot } from '../snapshot.js'
import type { Condition } from '../table-files.js'
import { allColdParts, type ColdSource, coldPartsFor } from './find.js'
import type { ColdPart } from './list.js'

export type FileAt = Part & Partial<Pick<ColdPart, 'day' | 'is_late'>>

/** They overlap: of a key the highest row_version counts. */
export const filesAt = async (store: ObjectStore, snapshot: Snapshot, table: TableName): Promise<readonly FileAt[]> => [
  ...(await allColdParts({ store, checkpoint: snapshot.checkpoint, table })),
  ...filesAbove(snapshot, table),
]

/** Those without which the rows that fit are the same. What is late may have the newest version of a row, which fits no more. */
export async function filesFor(
  { snapshot, ...source }: Omit<ColdSource, 'checkpoint'> & { readonly snapshot: Snapshot },
  where: readonly Condition[],
): Promise<readonly FileAt[]> {
  const { store, table } = source
  const wanted = new Set((await coldPartsFor({ ...source, checkpoint: snapshot.checkpoint }, where)).map(({ name }) => name))
  const files: readonly FileAt[] = await filesAt(store, snapshot, table)
  return files.filter(({ name, day, is_late }) => day === undefined || is_late === true || wanted.has(name))
}
