// What everybody reads: the tables at one revision, and rows of it. Whoever holds a view sees that revision alone.

import { isOperatingError } from '../core/errors.js'
import { remember } from '../core/recent.js'
import { instantMs } from '../core/time.js'
import { isExpired } from '../projections/retention.js'
import { keyTextOfRow, type LooseRow, type RowKey, type Rows, type TableName } from '../projections/tables.js'
import { type FileAt, filesAt, filesFor } from '../tables/cold/files-at.js'
import { coldPartsFor } from '../tables/cold/find.js'
import { rowFilter } from '../tables/condition.js'
import { type Page, pageOfScan, pagesOfScans } from '../tables/keyset.js'
import { createFilterCache, type FilterCache } from '../tables/lookup.js'
import { layersOf, NO_LAYERS, overlayRows } from '../tables/overlay.js'
import { loadPage, type PageSource } from '../tables/page.js'
import { forgetReplaced } from '../tables/replaced.js'
import { pageAt, rowsAt } from '../tables/rows-at.js'
import { openSnapshot, partsOf, readPointer, type Snapshot, type TableStore } from '../tables/snapshot.js'
import type { Condition, Scan } from '../tables/table-files.js'

/** One revision, ready to be asked. */
export type View = {
  readonly snapshot: Snapshot
  readonly sequence: number
  readonly row: <Name extends TableName>(table: Name, key: RowKey) => Promise<Rows[Name] | undefined>
  /** Of many keys at once, in no order; those that have no row are left out. */
  readonly rows: <Name extends TableName>(table: Name, keys: readonly RowKey[]) => Promise<readonly Rows[Name][]>
  /** A keyset page in key order. Expired rows are absent; then a page may be shorter than its limit, and `last_key` leads on. */
  readonly page: <Name extends TableName>(table: Name, scan: Scan) => Promise<Page<Rows[Name]>>
  /** All rows that fit, where few do, in no order. The base is gone through once, and not for every revision above it. */
  readonly few: <Name extends TableName>(table: Name, where: readonly Condition[]) => Promise<readonly Rows[Name][]>
  /** The earliest instant of this column that cold parts have, as far as they say; undefined: none of the table's rows is cold. */
  readonly coldSince: (table: TableName, column: string) => number | undefined
  /** Every file that has rows of the table, the coldest first. They overlap: of a key the highest row_version counts. */
  readonly files: (table: TableName, where?: readonly Condition[]) => Promise<readonly FileAt[]>
  /** What is made of whole tables that change seldom: made once, and again when a revision has changed one of them. */
  readonly derived: <T>(name: string, tables: readonly TableName[], make: () => Promise<T>) => Promise<T>
}

export type Reader = {
  /** The newest published revision; undefined before the first one. */
  readonly latest: () => Promise<View | undefined>
  readonly viewOf: (snapshot: Snapshot) => View
  readonly tables: TableStore
}

/** A file that vanished between the pointer and the read was replaced by a merge and collected: read the pointer again. */
const REOPENS_MAX = 3

export function createReader(tables: TableStore, log?: (message: string) => void): Reader {
  const filters = createFilterCache({ store: tables.store, log })
  const derivations: Derivations = new Map()
  let held: Snapshot | undefined

  async function open(): Promise<Snapshot | undefined> {
    for (let tries = 1; ; tries++) {
      const { published } = await readPointer(tables.store)
      if (published === undefined) return undefined
      try {
        const snapshot = await openSnapshot(tables, published.pointer, held)
        // Two calls may finish in either order: the process keeps the newer revision.
        if (held === undefined || held.revision.sequence <= snapshot.revision.sequence) {
          forgetReplaced({ ...tables, filters }, held, snapshot)
          held = snapshot
        }
        return snapshot
      } catch (error) {
        if (!isOperatingError(error, 'missing') || tries === REOPENS_MAX) throw error
        held = undefined
      }
    }
  }

  const viewOf = (snapshot: Snapshot): View => createView(tables, filters, derivations, snapshot)
  return {
    tables,
    viewOf,
    async latest() {
      const snapshot = await open()
      return snapshot === undefined ? undefined : viewOf(snapshot)
    },
  }
}

/** By name, with the files that it was made of. */
type Derivations = Map<string, { readonly made_of: string; readonly value: Promise<unknown> }>

/** Half a dozen are asked for all the time; pages that people look at ask for others, each of them once or twice. */
const DERIVATIONS_MAX = 32

/** The files that hold these tables at this revision: the same files are the same rows. A preview has rows in no file. */
const filesOf = ({ checkpoint, deltas, unpublished }: Snapshot, tables: readonly TableName[]): string =>
  [
    checkpoint.name,
    ...deltas.flatMap(({ files_added }) => files_added.filter(({ table }) => tables.includes(table)).map(({ name }) => name)),
    ...(unpublished !== undefined && tables.some((table) => unpublished.tables.has(table)) ? [unpublished.id] : []),
  ].join()

function createView(tables: TableStore, filters: FilterCache, derivations: Derivations, snapshot: Snapshot): View {
  const { store, files } = tables
  const { revision, overlay } = snapshot
  const at = { ...tables, snapshot, filters }
  const fold_time = instantMs(revision.fold_time)
  const isLive = (table: TableName) => (row: LooseRow) => !isExpired(table, row, fold_time, revision.retention)
  async function rows(table: TableName, keys: readonly RowKey[]): Promise<readonly LooseRow[]> {
    if (keys.length === 0) return []
    return (await rowsAt(at, table, keys)).filter(isLive(table))
  }
  function derived<T>(name: string, tables: readonly TableName[], make: () => Promise<T>): Promise<T> {
    const made_of = filesOf(snapshot, tables)
    const known = derivations.get(name)
    if (known?.made_of === made_of) {
      remember(derivations, name, known, DERIVATIONS_MAX)
      return known.value as Promise<T>
    }
    const value = make()
    remember(derivations, name, { made_of, value }, DERIVATIONS_MAX)
    // What failed is not remembered: the next one may succeed.
    value.catch(() => derivations.get(name)?.value === value && derivations.delete(name))
    return value
  }
  const view: LooseView = {
    snapshot,
    sequence: revision.sequence,
    rows,
    row: async (table, key) => (await rows(table, [key]))[0],
    derived,
    coldSince(table, column) {
      const lists = snapshot.checkpoint.cold.get(table) ?? []
      return lists.length === 0 ? undefined : Math.min(...lists.map(({ times }) => times[column]?.[0] ?? Number.NEGATIVE_INFINITY))
    },
    files: (table, where = []) =>
      where.length === 0 ? filesAt(store, snapshot, table) : filesFor({ store, filters, snapshot, table }, where),
    async few(table, where) {
      const above = overlayRows(await layersOf(overlay, table))
      // Of no table above the base: it stays what it is until a merge makes another.
      const below = await derived(`few ${table} ${JSON.stringify(where)}`, [], async () => {
        const cold = await coldPartsFor({ store, checkpoint: snapshot.checkpoint, filters, table }, where)
        return readBase({ files, table, parts: partsOf(snapshot, table), cold, filters, where })
      })
      const fits = rowFilter(table, where)
      const found = [...below.filter((row) => !above.has(keyTextOfRow(table, row))), ...[...above.values()].filter(fits)]
      return found.filter(isLive(table))
    },
    async page(table, scan) {
      const page = pageOfScan(table, await pageAt(at, table, scan), scan)
      return { ...page, rows: page.rows.filter(isLive(table)) }
    },
  }
  // The files of a table have the rows of its declaration, which the compiler cannot know.
  return view as unknown as View
}

/** Code here handles every table alike. */
type LooseView = Omit<View, 'row' | 'rows' | 'page' | 'few'> & {
  readonly row: (table: TableName, key: RowKey) => Promise<LooseRow | undefined>
  readonly rows: (table: TableName, keys: readonly RowKey[]) => Promise<readonly LooseRow[]>
  readonly page: (table: TableName, scan: Scan) => Promise<Page<LooseRow>>
  readonly few: (table: TableName, where: readonly Condition[]) => Promise<readonly LooseRow[]>
}

const BASE_PAGE_ROWS = 5_000

type BaseScan = Pick<PageSource, 'files' | 'table' | 'parts' | 'cold' | 'filters'> & { readonly where: readonly Condition[] }

async function readBase({ where, ...base }: BaseScan): Promise<readonly LooseRow[]> {
  const found: LooseRow[] = []
  const readPage = async (scan: Scan) => pageOfScan(base.table, await loadPage({ ...base, above: NO_LAYERS, scan }), scan)
  for await (const rows of pagesOfScans(readPage, { where, page_rows: BASE_PAGE_ROWS })) found.push(...rows)
  return found
}
