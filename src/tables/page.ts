// A page of a table at one revision, in key order: base files, which may overlap, under an overlay. A row counts by its
// newest version alone. Its cost follows the page: candidates from each file, and a look-up of those in the others.

import { compareKeys, keyOfRow, keyText, type LooseRow, type RowKey, type TableName } from '../projections/tables.js'
import { fits } from './plain-files.js'
import type { Part } from './revision.js'
import type { FileReference, Scan, TableFiles } from './table-files.js'

export type PageSource = {
  readonly files: TableFiles
  readonly table: TableName
  readonly parts: readonly Part[]
  readonly overlay: ReadonlyMap<string, LooseRow>
  readonly scan: Scan
}

/** At most `limit` rows, fewer only where no more fit. */
export async function loadPage(source: PageSource): Promise<LooseRow[]> {
  const { limit, where = [] } = source.scan
  const overlaid = overlayPage(source)
  const page: LooseRow[] = []
  let after = source.scan.after
  for (;;) {
    const wanted = limit - page.length
    const scanned = await source.files.scan(source.table, reachable(source.parts, after), {
      where,
      limit: wanted,
      ...(after === undefined ? {} : { after }),
    })
    // Only a full scan leaves keys behind its last one; up to there everything is known.
    const isFull = scanned.length >= wanted
    const last = scanned.at(-1)
    const through = isFull && last !== undefined ? keyOfRow(source.table, last) : undefined
    const confirmed = await confirm(source, scanned)
    page.push(...merge(source.table, confirmed, overlaid(after, through)).slice(0, wanted))
    if (page.length >= limit || through === undefined) return page
    after = through
  }
}

const reachable = (parts: readonly Part[], after: RowKey | undefined): readonly FileReference[] =>
  after === undefined ? parts : parts.filter(({ max_key }) => compareKeys(max_key, after) > 0)

/** Of what the files offered: rows that nothing newer has replaced, neither in the overlay nor in another file. */
async function confirm({ files, table, parts, overlay, scan }: PageSource, scanned: readonly LooseRow[]): Promise<LooseRow[]> {
  const offered = new Map<string, LooseRow>()
  for (const row of scanned) {
    const text = keyText(keyOfRow(table, row))
    if (overlay.has(text)) continue
    const other = offered.get(text)
    if (other === undefined || other.row_version < row.row_version) offered.set(text, row)
  }
  const doubtful = [...offered.values()].map((row) => keyOfRow(table, row)).filter((key) => countCovering(parts, key) > 1)
  if (doubtful.length > 0) {
    const covering = parts.filter((part) => doubtful.some((key) => covers(part, key)))
    for (const row of await files.lookup(table, covering, doubtful)) {
      const text = keyText(keyOfRow(table, row))
      const candidate = offered.get(text)
      if (candidate === undefined || candidate.row_version >= row.row_version) continue
      // The newer version takes the place of the one that was scanned, on this page only if it fits as well.
      if ((scan.where ?? []).every((condition) => fits(row, condition))) offered.set(text, row)
      else offered.delete(text)
    }
  }
  return [...offered.values()]
}

const covers = ({ min_key, max_key }: Part, key: RowKey): boolean => compareKeys(min_key, key) <= 0 && compareKeys(key, max_key) <= 0

const countCovering = (parts: readonly Part[], key: RowKey): number => parts.reduce((count, part) => count + (covers(part, key) ? 1 : 0), 0)

/** The overlay's own rows that fit, in key order; asked for by the span that the files were read for. */
function overlayPage({ table, overlay, scan }: PageSource): (after: RowKey | undefined, through: RowKey | undefined) => LooseRow[] {
  const { where = [] } = scan
  const rows = [...overlay.values()].filter((row) => where.every((condition) => fits(row, condition)))
  rows.sort((left, right) => compareKeys(keyOfRow(table, left), keyOfRow(table, right)))
  return (after, through) =>
    rows.filter((row) => {
      const key = keyOfRow(table, row)
      return (after === undefined || compareKeys(key, after) > 0) && (through === undefined || compareKeys(key, through) <= 0)
    })
}

function merge(table: TableName, left: readonly LooseRow[], right: readonly LooseRow[]): LooseRow[] {
  return [...left, ...right].sort((a, b) => compareKeys(keyOfRow(table, a), keyOfRow(table, b)))
}
