// The object store port: five calls, and the rules that every adapter keeps (test/contract/object-store.ts).
// An answer that the server gave is a value. No answer, or a 5xx, throws `unavailable`: for a put or a delete
// the outcome is then unknown, and the caller has to look. Adapters never retry by themselves.

// `server_time` of an answer is an instant that the store's clock had passed when the answer was here; of a listing, when
// it was asked for, so that whatever the listing lacks is younger.

export type ObjectMeta = Readonly<Record<string, string>>

export type ObjectHead = {
  readonly name: string
  /** Compared for equality only; text, because GCS generations exceed 2^53. */
  readonly generation: string
  /** RFC 3339 in the store's own precision: milliseconds on gcs and memory, nanoseconds on local. */
  readonly creation_time: string
  readonly size: number
  /** Eight lower-case hex digits; empty of a damaged object, so that it equals no checksum. */
  readonly crc32c: string
  readonly meta: ObjectMeta
  /** Set by `head` and `list` where the store has something under the name and cannot read it as an object, as a crash of the
   *  machine may leave a file. `get` fails with `corrupt`; `put` and `delete` by this generation work as on any other object.
   *  Size and creation time are the file's. Only stores that lie on a file system answer it. */
  readonly damaged?: true
}

export type PutOptions = {
  /** '0' creates; another value replaces exactly that generation. There is no write without a precondition. */
  readonly if_generation: string
  readonly meta?: ObjectMeta
}

export type PutAnswer =
  | {
      readonly kind: 'stored'
      readonly head: ObjectHead
      readonly server_time: number
      /** The adapter itself saw that it acknowledges more than two minutes after the creation stamp (local). */
      readonly late: boolean
    }
  | { readonly kind: 'precondition_failed'; readonly server_time: number }
  /** 429 and 403 say nothing about whether the object is there (LEDGER sections 2 and 3): look. */
  | { readonly kind: 'throttled'; readonly server_time: number }
  | { readonly kind: 'forbidden'; readonly server_time: number }

export type GetAnswer =
  | { readonly kind: 'found'; readonly head: ObjectHead; readonly bytes: Uint8Array; readonly server_time: number }
  | { readonly kind: 'absent'; readonly server_time: number }

export type HeadAnswer =
  | { readonly kind: 'found'; readonly head: ObjectHead; readonly server_time: number }
  | { readonly kind: 'absent'; readonly server_time: number }

export type ListAnswer = {
  /** In code unit order of the names, all of them after `start_after`. */
  readonly objects: readonly ObjectHead[]
  /** Pass it as the next `start_after`; absent on the last page. */
  readonly next?: string
  readonly server_time: number
}

export type DeleteAnswer = { readonly kind: 'deleted' | 'absent' | 'precondition_failed' | 'throttled' | 'forbidden' }

export type ObjectStore = {
  /** For people: `local:/data`, `gs://bucket/prefix`, `memory:`. */
  readonly label: string
  /** The store's time at this moment, as far as this process can tell it from the answers so far: never later than it is, and
   *  never earlier than it was said to be before. Absent: an answer says it exactly, and what has passed since is added. */
  readonly now?: () => number
  /** One page of a listing is a snapshot (GCS). Where it is not, whoever needs one lists twice (DESIGN section 3). */
  readonly page_is_snapshot: boolean
  /** Shortest time between two writes of one name that the store admits (GCS: one a second). */
  readonly same_name_interval_ms: number
  readonly put: (name: string, bytes: Uint8Array, options: PutOptions) => Promise<PutAnswer>
  readonly get: (name: string) => Promise<GetAnswer>
  readonly head: (name: string) => Promise<HeadAnswer>
  /** One page of at most 1,000 names. */
  readonly list: (prefix: string, start_after?: string) => Promise<ListAnswer>
  readonly delete: (name: string, options: { readonly if_generation: string }) => Promise<DeleteAnswer>
  /** Where an immutable object lies as a file, on stores that have one: readers of Parquet need no copy then. The file
   *  also carries the store's own head (local-object.ts), where readers of Parquet do not look: its size and checksum
   *  are not those of the object, which only `get` answers byte for byte. */
  readonly filePath?: (name: string, generation: string) => string
}

/** Creates; any other generation replaces exactly that one. */
export const CREATE = '0'

/** Names a page of a listing, on every store (GCS admits no more). */
export const PAGE_SIZE = 1_000
