// Removes claims that nobody can ask for any more: those of commands thirty days after they were made, those of starts
// seven days after their attempt was over. It deletes by generation, judges age by the store's stamps and by folded rows,
// and keeps what it does not understand.

import { sha256Hex } from '../core/hash.js'
import { CLAIMS_PREFIX, STARTS_PREFIX } from '../core/keys.js'
import { CLAIM_KEPT_MS, COLLECT_CLAIM_PAGES_MAX, COLLECT_CLAIMS_MAX, START_CLAIM_KEPT_MS } from '../core/limits.js'
import { stampMs } from '../core/time.js'
import { parseStartEntry, type StartClaim } from '../ledger/start-entry.js'
import type { TaskRow } from '../projections/run-table.js'
import { isActive } from '../projections/state-machine.js'
import { keyText } from '../projections/tables.js'
import { listPages } from '../storage/list-all.js'
import { manyAtOnce } from '../storage/many-at-once.js'
import type { ObjectHead, ObjectStore } from '../storage/object-store.js'
import { createFilterCache } from '../tables/lookup.js'
import type { Pointer } from '../tables/revision.js'
import { rowsAt } from '../tables/rows-at.js'
import { openSnapshot, readPointer, type TableStore } from '../tables/snapshot.js'

/** How much one look may list and delete in each folder; another look goes on elsewhere. */
type ClaimBounds = { readonly pages_max: number; readonly count_max: number }

const BOUNDS: ClaimBounds = { pages_max: COLLECT_CLAIM_PAGES_MAX, count_max: COLLECT_CLAIMS_MAX }

export async function collectClaims(tables: TableStore, bounds: ClaimBounds = BOUNDS): Promise<{ readonly claims_deleted_count: number }> {
  const { store } = tables
  const { published, server_time } = await readPointer(store)
  // Without a revision nothing has been folded: there is nobody whose attempts or commands could be old.
  if (published === undefined) return { claims_deleted_count: 0 }
  // The repeat of a command stops appending long before this, and has the answer alone from then on.
  const commands = await listOlder(store, { prefix: CLAIMS_PREFIX, kept_ms: CLAIM_KEPT_MS, begin_at: server_time }, bounds)
  const starts = await listOlder(store, { prefix: STARTS_PREFIX, kept_ms: START_CLAIM_KEPT_MS, begin_at: server_time }, bounds)
  const over = starts.length === 0 ? [] : await ofAttemptsOver(tables, published.pointer, starts, server_time)
  const answers = await manyAtOnce([...commands, ...over], AT_ONCE, ({ name, generation }) =>
    store.delete(name, { if_generation: generation }),
  )
  return { claims_deleted_count: answers.filter(({ kind }) => kind === 'deleted').length }
}

const AT_ONCE = 16

type Wanted = { readonly prefix: string; readonly kept_ms: number; readonly begin_at: number }

/** Names are digests, so that any place to begin is as good as another. Each look begins elsewhere, goes once around, and
 *  needs no memory of the one before: in time all names are seen, however many there are. */
async function listOlder(store: ObjectStore, { prefix, kept_ms, begin_at }: Wanted, bounds: ClaimBounds): Promise<ObjectHead[]> {
  const begin = `${prefix}${sha256Hex(String(begin_at))}`
  const found: ObjectHead[] = []
  let pages = 0
  for (const [first, last] of [[begin, undefined] as const, [undefined, begin] as const]) {
    for await (const { objects, server_time } of listPages(store, prefix, first)) {
      pages += 1
      const here = objects.filter(({ name }) => last === undefined || name <= last)
      found.push(...here.filter(({ creation_time }) => server_time - stampMs(creation_time) > kept_ms))
      if (pages === bounds.pages_max || found.length >= bounds.count_max) return found.slice(0, bounds.count_max)
      if (here.length < objects.length) break
    }
  }
  return found.slice(0, bounds.count_max)
}

/** Of these entries those whose attempts were all over long enough ago. Whoever asks to start such an attempt is refused by
 *  its task's row, before a log is looked at. */
async function ofAttemptsOver(
  tables: TableStore,
  pointer: Pointer,
  heads: readonly ObjectHead[],
  now: number,
): Promise<readonly ObjectHead[]> {
  const read = await manyAtOnce(heads, AT_ONCE, async (head) => {
    const answer = await tables.store.get(head.name)
    // What is damaged, or of another version, is not judged; nor is what lies under a name that is not its own.
    const entry = answer.kind === 'absent' ? undefined : parseStartEntry(head.name, answer.bytes)
    return entry === undefined ? [] : [{ head, starts: entry.starts }]
  })
  const entries = read.flat()
  const tasks = await tasksOf(
    tables,
    pointer,
    entries.flatMap(({ starts }) => starts),
  )
  const isOld = ({ run_id, task_key, attempt, attempt_id }: StartClaim): boolean => {
    const task = tasks.get(keyText([run_id, task_key]))
    const over_by = task === undefined ? null : attemptOverBy(task, { attempt, attempt_id })
    return over_by !== null && now - over_by > START_CLAIM_KEPT_MS
  }
  return entries.filter(({ starts }) => starts.every(isOld)).map(({ head }) => head)
}

async function tasksOf(tables: TableStore, pointer: Pointer, claims: readonly StartClaim[]): Promise<ReadonlyMap<string, TaskRow>> {
  const snapshot = await openSnapshot(tables, pointer)
  const keys = new Map(claims.map(({ run_id, task_key }) => [keyText([run_id, task_key]), [run_id, task_key] as const]))
  const at = { ...tables, snapshot, filters: createFilterCache(tables) }
  const rows = (await rowsAt(at, 'tasks', [...keys.values()])) as unknown as readonly TaskRow[]
  return new Map(rows.map((row) => [keyText([row.run_id, row.task_key]), row]))
}

/** When the attempt was over at the latest; null: it is not, it may be started yet, or the row does not say. */
function attemptOverBy(task: TaskRow, { attempt, attempt_id }: Pick<StartClaim, 'attempt' | 'attempt_id'>): number | null {
  // The next one is dispatched after the one before it is over.
  if (task.attempt > attempt) return task.dispatched_at
  if (task.attempt < attempt || task.attempt_id !== attempt_id || isActive(task.state)) return null
  return task.finished_at
}
