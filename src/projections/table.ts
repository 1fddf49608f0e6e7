// How a table is declared. One declaration gives the row type of the fold, the Parquet columns, the key and
// where rows live, so that none of them can disagree. DATA section 5 is the source of every declaration.

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** In a row an instant is epoch milliseconds, and JSON is the value itself; both are text or INT64 in Parquet only. */
type ColumnValues = {
  string: string
  int32: number
  int64: number
  double: number
  boolean: boolean
  timestamp: number
  json: Json
}

export type ColumnType = keyof ColumnValues

export type Column<Value = unknown> = {
  readonly type: ColumnType
  readonly nullable: boolean
  /** Many rows share few values: worth a dictionary. */
  readonly repeats: boolean
  /** Carries the type of the value; never present. */
  readonly value?: Value
}

const required = <T extends ColumnType>(type: T, repeats = false): Column<ColumnValues[T]> => ({ type, nullable: false, repeats })
const optional = <T extends ColumnType>(type: T, repeats = false): Column<ColumnValues[T] | null> => ({ type, nullable: true, repeats })

/** A string column, or one of a closed set of names (then it repeats). */
export const column = {
  string: required('string'),
  repeated: required('string', true),
  int32: required('int32'),
  int64: required('int64'),
  double: required('double'),
  boolean: required('boolean'),
  timestamp: required('timestamp'),
  json: <T = Json>() => required('json') as unknown as Column<T>,
  oneOf: <const T extends string>(..._values: T[]) => required('string', true) as unknown as Column<T>,
  optional: {
    string: optional('string'),
    repeated: optional('string', true),
    int32: optional('int32'),
    int64: optional('int64'),
    double: optional('double'),
    boolean: optional('boolean'),
    timestamp: optional('timestamp'),
    json: <T = Json>() => optional('json') as unknown as Column<T | null>,
    oneOf: <const T extends string>(..._values: T[]) => optional('string', true) as unknown as Column<T | null>,
  },
} as const

/** Every row ends with these; tenant_id and workspace_id come first in the files and are not kept in memory. */
const STAMP_COLUMNS = { row_version: column.int64, last_event_id: column.string } as const
type StampColumns = typeof STAMP_COLUMNS

type RowStamp = { readonly row_version: number; readonly last_event_id: string }

type Columns = Readonly<Record<string, Column>>

type RowOfColumns<C extends Columns> = { readonly [K in keyof C]: C[K] extends Column<infer V> ? V : never }

export type KeyValue = string | number

export type Table<Name extends string = string, C extends Columns = Columns, Key extends keyof C = keyof C> = {
  readonly name: Name
  /** Sorted by these; the first columns of the file after tenant_id and workspace_id. */
  readonly key: readonly Key[]
  /** Key, other columns, row_version, last_event_id: in file order, without tenant_id and workspace_id. */
  readonly columns: C & StampColumns
  readonly residency: Residency
  /** Bloom filter files beside the parts: for tables that are asked for random absent keys. */
  readonly bloom: boolean
  /** Parts never mix two values of this column floored to the unit, and are dropped whole when it expires. */
  readonly period?: {
    readonly column: string
    readonly unit_ms: number
    /** A key that has not expired is in one period alone: who reads all rows need not compare periods with each other. */
    readonly holds_key_once: boolean
  }
  /** Absent: its rows never expire. */
  readonly expiry?: Expiry
  /** Instants whose minimum and maximum each part carries in the checkpoint. */
  readonly times: readonly string[]
  /** Absent: its rows stay in the base for ever, or until they expire. */
  readonly cold?: Cold
}

/** A row whose instant in this column is null never expires. */
export type Expiry = {
  readonly column: string
  /** For how long after that instant it is kept. Absent: the instant is that of its end. */
  readonly keep_for?: ExpirySetting
}

/** The settings by which rows expire that are there already. */
export type ExpirySetting = 'idempotency_hours' | 'refusals_days' | 'outbox_days'

/** How rows of a table go cold (ADR 0061). An instant that decides over it never changes once it is there. */
export type Cold = {
  /** By an instant of their own, unless another column says when they end; or with the run that leads their key. */
  readonly by: { readonly column: string; readonly unless_set?: string } | 'run'
  /** The column of the key that filters of cold parts hold: whoever looks for a row of them knows its value. */
  readonly found_by: string
  /** Of rows that are not over: no cold row has one of these values. */
  readonly never?: OpenRows
}

/** `whole`: every row is in the turn's memory, so a missing one is absent. `while_open`: the rows that are not over, the others are
 *  looked up. `with_run`: those of a run that is not over. `on_disk`: looked up when an event names them. */
type Residency = 'whole' | 'with_run' | 'on_disk' | { readonly while_open: OpenRows }

/** Rows that have one of these values are not over. */
export type OpenRows = { readonly column: string; readonly values: readonly string[] }

export type RowOf<T> = T extends Table<string, infer C, infer _K> ? RowOfColumns<C> & RowStamp : never

export function defineTable<const Name extends string, C extends Columns, const Key extends keyof C & string>(declaration: {
  readonly name: Name
  readonly key: readonly Key[]
  readonly columns: C
  readonly residency: Residency
  readonly bloom?: boolean
  readonly period?: Table['period']
  readonly expiry?: Expiry & { readonly column: keyof C & string }
  readonly times?: readonly (keyof C & string)[]
  readonly cold?: Cold
}): Table<Name, C, Key> {
  const { period, expiry, cold } = declaration
  return {
    name: declaration.name,
    key: declaration.key,
    columns: { ...declaration.columns, ...STAMP_COLUMNS },
    residency: declaration.residency,
    bloom: declaration.bloom ?? false,
    ...(period === undefined ? {} : { period }),
    ...(expiry === undefined ? {} : { expiry }),
    times: declaration.times ?? [],
    ...(cold === undefined ? {} : { cold }),
  }
}
