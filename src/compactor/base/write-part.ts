// Writes a file of the base and the filter beside it, under names that nobody else uses: until a checkpoint names them,
// nobody reads them.

import { crc32cHex } from '../../core/hash.js'
import { newUlid } from '../../core/ulid.js'
import { type TableName, tableNamed } from '../../projections/tables.js'
import { writeOnce } from '../../storage/write-once.js'
import { buildFilter } from '../../tables/bloom.js'
import { type Part, partName } from '../../tables/revision.js'
import type { EncodedFile } from '../../tables/table-files.js'
import type { PublishDeps } from '../publish.js'

export const FILTER_ENDING = '.bloom'

export const newPartName = ({ clock, random, files }: PublishDeps, table: TableName): string =>
  partName(table, newUlid(clock.now(), random), files.extension)

export async function writePart(
  deps: PublishDeps,
  table: TableName,
  file: EncodedFile,
  { level, period }: Pick<Part, 'level' | 'period'>,
): Promise<Part> {
  const name = newPartName(deps, table)
  const { bytes, rows, min_key, max_key, times } = file
  await writeOnce(deps, name, bytes)
  const filter = tableNamed(table).bloom ? `${name}${FILTER_ENDING}` : null
  if (filter !== null) await writeOnce(deps, filter, buildFilter(file.filter_keys))
  return { name, rows, bytes: bytes.byteLength, crc32c: crc32cHex(bytes), min_key, max_key, level, times, filter, period }
}
