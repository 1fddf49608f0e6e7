// The port between tables and their files: how rows become an immutable object and are found in it again.
// Two adapters behind one contract suite: Parquet (columns and parquet-wasm, DuckDB for long scans), and plain JSON for the
// crash enumeration of pairs, where tens of thousands of tiny files are written.

import type { LooseRow, RowKey, TableName } from '../projections/tables.js'

/** An immutable table file, as revisions and checkpoints name it. */
export type FileReference = {
  readonly name: string
  readonly rows: number
  readonly bytes: number
  readonly crc32c: string
  readonly min_key: RowKey
  readonly max_key: RowKey
  /** Where it is known: smallest and largest value, epoch milliseconds, of columns with instants. */
  readonly times?: Readonly<Record<string, readonly [number, number]>>
}

/** What one encoded file holds, before it has a name. */
export type EncodedFile = {
  readonly bytes: Uint8Array
  readonly rows: number
  readonly min_key: RowKey
  readonly max_key: RowKey
  /** Smallest and largest value, epoch milliseconds, of the table's `times` columns that have one. */
  readonly times: Readonly<Record<string, readonly [number, number]>>
  /** For tables with Bloom filters: the first key column of every row, as the filter wants it (may repeat); else empty. */
  readonly filter_keys: readonly string[]
}

export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>='
/** Conditions are joined with AND. `in` is an OR of equalities; null is matched by `is_null`. */
export type Condition =
  | { readonly column: string; readonly is: Comparison; readonly value: string | number | boolean }
  | { readonly column: string; readonly in: readonly (string | number | boolean)[] }
  | { readonly column: string; readonly is_null: boolean }

export type Scan = {
  readonly where?: readonly Condition[]
  /** Keyset cursor: rows strictly after this key. */
  readonly after?: RowKey
  readonly limit: number
}

export type TableFiles = {
  /** The file name's ending without the dot: 'parquet' or 'json'. */
  readonly extension: string
  /** Rows sorted by key, no key twice, not empty. */
  readonly encode: (table: TableName, rows: readonly LooseRow[]) => Promise<EncodedFile>
  /** Every row of one file, in its order, after its checksum was compared. */
  readonly decode: (table: TableName, bytes: Uint8Array, reference: FileReference) => Promise<readonly LooseRow[]>
  /** The rows of these files that have one of these keys, in no order. Files may overlap: then a key may be found
   *  more than once, and the caller takes the highest row_version. */
  readonly lookup: (table: TableName, files: readonly FileReference[], keys: readonly RowKey[]) => Promise<readonly LooseRow[]>
  /** The highest row_version among these files of each of these keys that they have, by key text: cheaper than its row. */
  readonly versions: (table: TableName, files: readonly FileReference[], keys: readonly RowKey[]) => Promise<ReadonlyMap<string, number>>
  /** The first rows in key order that fit. As in `lookup`, a key may come once for each file that has it. */
  readonly scan: (table: TableName, files: readonly FileReference[], scan: Scan) => Promise<readonly LooseRow[]>
  /** Merges files (for a key the highest row_version wins) into new ones of at most `rows_per_file` rows, in key order,
   *  with memory bounded by a few row groups a source. `keep` false drops a row; absent keeps all. */
  readonly merge: (table: TableName, files: readonly FileReference[], options: MergeOptions) => AsyncIterable<EncodedFile>
  /** Every row of these files, merged as by `merge`, in key order, in batches: for comparison and export. */
  readonly stream: (table: TableName, files: readonly FileReference[]) => AsyncIterable<readonly LooseRow[]>
  /** Other files stand in the place of these: what is kept of them goes. Who asks for them nevertheless is answered as before. */
  readonly forget: (files: readonly FileReference[]) => void
  readonly close: () => Promise<void>
}

export type MergeOptions = {
  readonly rows_per_file: number
  /** Rows whose value in this timestamp column is below the instant have expired and are left out. */
  readonly drop_before?: { readonly column: string; readonly at: number }
  /** Only rows whose value in this timestamp column lies in [from, before) go into the result. */
  readonly only?: { readonly column: string; readonly from: number; readonly before: number }
  /** Only rows of this range go into the result. Files that have none of it need not be given. */
  readonly led?: LedRange
  /** Only the rows that have gone cold by this test, or all others. */
  readonly cold?: { readonly test: ColdTest; readonly keeps: 'cold' | 'hot' }
}

/** Rows whose key begins with a text in (after, through]; null: from the first one, or to the last. */
export type LedRange = { readonly after: string | null; readonly through: string | null }

export type ColdTest =
  /** The instant lies in [from, before), and the other column, where one is named, is empty. */
  | { readonly column: string; readonly from: number; readonly before: number; readonly unless_set?: string }
  /** The first column of the key is one of these. */
  | { readonly led_by: ReadonlySet<string> }
