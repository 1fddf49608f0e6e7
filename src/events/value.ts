// Values that several events and rows share (DATA section 1, compound marks). The zod schemas beside the types are
// the parsers; what they infer is what everybody uses.

export type Assets = { readonly keys: readonly string[] } | { readonly list: ListReference }
export type ListReference = { readonly sha256: string; readonly count: number; readonly offset?: number }
export type DimensionSelector =
  | { readonly keys: readonly string[] }
  | { readonly range: { readonly start: string; readonly end: string } }
  | { readonly all: true }
  | { readonly match: readonly string[] }
export type Selector =
  | null
  | { readonly keys: readonly string[] }
  | { readonly range: { readonly start: string; readonly end: string } }
  | { readonly list: ListReference }
  | { readonly all: true }
  | { readonly dims: Readonly<Record<string, DimensionSelector>> }
export type ErrorValue = { readonly code: string; readonly message: string; readonly stack?: string; readonly retryable?: boolean }
export type Dependency = { readonly asset_key: string; readonly mapping?: unknown }
