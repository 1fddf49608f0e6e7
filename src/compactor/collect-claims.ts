// Removes claims that nobody can ask for any more: those of commands thirty days after they were made, those of starts
// seven days after their attempt was over. It deletes by generation, judges age by the store's stamps and by folded rows,
// and keeps what it does not understand.

import { z } from 'zod'
import { sha256Hex } from '../core/hash.js'
import { parseJson } from '../core/json.js'
import { CLAIMS_PREFIX, START_CLAIMS_PREFIX, startClaimName } from '../core/keys.js'
import { CLAIM_KEPT_MS, COLLECT_CLAIM_PAGES_MAX, COLLECT_CLAIMS_MAX, START_CLAIM_KEPT_MS } from '../core/limits.js'
import { stampMs } from '../core/time.js'
import type { TaskRow } from '../projections/run-table.js'
import { isActive } from '../projections/state-machine.js'
import { keyText } from '../projections/tables.js'
import type { ObjectHead, ObjectStore } from '../storage/object-store.js'
import { createFilterCache, lookupRows } from '../tables/lookup.js'
import { overlayRow } from '../tables/overlay.js'
import type { Pointer } from '../tables/revision.js'
import { openSnapshot, partsOf, readPointer, type TableStore } from '../tables/snapshot.js'

/** How much one look may list and delete in each folder; another look goes on elsewhere. */
export type ClaimBounds = { readonly pages_max: number; readonly count_max: number }

const BOUNDS: ClaimBounds = { pages_max: COLLECT_CLAIM_PAGES_MAX, count_max: COLLECT_CLAIMS_MAX }

export async function collectClaims(tables: TableStore, bounds: ClaimBounds = BOUNDS): Promise<{ readonly claims_deleted_count: number }> {
  const { store } = tables
  const { published, server_time } = await readPointer(store)
  // Without a revision nothing has been folded: there is nobody whose attempts or commands could be old.
  if (published === undefined) return { claims_deleted_count: 0 }
  // The repeat of a command stops appending long before this, and has the answer alone from then on.
  const commands = await listOlder(store, { prefix: CLAIMS_PREFIX, kept_ms: CLAIM_KEPT_MS, begin_at: server_time }, bounds)
  const starts = await listOlder(store, { prefix: START_CLAIMS_PREFIX, kept_ms: START_CLAIM_KEPT_MS, begin_at: server_time }, bounds)
  const over = starts.length === 0 ? [] : await ofAttemptsOver(tables, published.pointer, starts, server_time)
  let claims_deleted_count = 0
  for (const { name, generation } of [...commands, ...over]) {
    const { kind } = await store.delete(name, { if_generation: generation })
    if (kind === 'deleted') claims_deleted_count += 1
  }
  return { claims_deleted_count }
}

type Wanted = { readonly prefix: string; readonly kept_ms: number; readonly begin_at: number }

/** Names are digests, so that any place to begin is as good as another. Each look begins elsewhere, goes once around, and
 *  needs no memory of the one before: in time all names are seen, however many there are. */
async function listOlder(store: ObjectStore, { prefix, kept_ms, begin_at }: Wanted, bounds: ClaimBounds): Promise<ObjectHead[]> {
  const begin = `${prefix}${sha256Hex(String(begin_at))}`
  const found: ObjectHead[] = []
  let pages = 0
  for (const [first, last] of [[begin, undefined] as const, [undefined, begin] as const]) {
    let start_after: string | undefined = first
    do {
      if (pages === bounds.pages_max || found.length >= bounds.count_max) return found.slice(0, bounds.count_max)
      pages += 1
      const { objects, next, server_time } = await store.list(prefix, start_after)
      const here = objects.filter(({ name }) => last === undefined || name <= last)
      found.push(...here.filter(({ creation_time }) => server_time - stampMs(creation_time) > kept_ms))
      start_after = here.length < objects.length ? undefined : next
    } while (start_after !== undefined)
  }
  return found.slice(0, bounds.count_max)
}

const START_CLAIM = z.object({
  schema: z.literal('servo-start-v1'),
  run_id: z.string(),
  task_key: z.string(),
  attempt: z.int(),
  attempt_id: z.string(),
})
type StartClaim = z.output<typeof START_CLAIM> & { readonly head: ObjectHead }

/** Of these start claims those whose attempt was over long enough ago. Whoever asks to start such an attempt is refused by
 *  its task's row, before a claim is looked at. */
async function ofAttemptsOver(
  tables: TableStore,
  pointer: Pointer,
  heads: readonly ObjectHead[],
  now: number,
): Promise<readonly ObjectHead[]> {
  const claims: StartClaim[] = []
  for (const head of heads) {
    const claim = await readStartClaim(tables.store, head)
    if (claim !== undefined) claims.push(claim)
  }
  const tasks = await tasksOf(tables, pointer, claims)
  const isOld = ({ run_id, task_key, attempt, attempt_id }: StartClaim): boolean => {
    const task = tasks.get(keyText([run_id, task_key]))
    const over_by = task === undefined ? null : attemptOverBy(task, { attempt, attempt_id })
    return over_by !== null && now - over_by > START_CLAIM_KEPT_MS
  }
  return claims.filter(isOld).map(({ head }) => head)
}

/** What is damaged, or of another version, is not judged; nor is what lies under a name that is not its own. */
async function readStartClaim(store: ObjectStore, head: ObjectHead): Promise<StartClaim | undefined> {
  const answer = await store.get(head.name)
  if (answer.kind === 'absent') return undefined
  const parsed = START_CLAIM.safeParse(parseJson(Buffer.from(answer.bytes).toString('utf8')))
  return parsed.success && startClaimName(parsed.data.attempt_id) === head.name ? { ...parsed.data, head } : undefined
}

async function tasksOf(tables: TableStore, pointer: Pointer, claims: readonly StartClaim[]): Promise<ReadonlyMap<string, TaskRow>> {
  const { store, files } = tables
  const snapshot = await openSnapshot(tables, pointer)
  const keys = new Map(claims.map(({ run_id, task_key }) => [keyText([run_id, task_key]), [run_id, task_key] as const]))
  const source = {
    files,
    table: 'tasks' as const,
    parts: partsOf(snapshot, 'tasks'),
    filters: createFilterCache({ store }),
    overlay: (key: readonly (string | number)[]) => overlayRow(snapshot.overlay, 'tasks', key),
  }
  const rows = (await lookupRows(source, [...keys.values()])) as unknown as readonly TaskRow[]
  return new Map(rows.map((row) => [keyText([row.run_id, row.task_key]), row]))
}

/** When the attempt was over at the latest; null: it is not, it may be started yet, or the row does not say. */
function attemptOverBy(task: TaskRow, { attempt, attempt_id }: Pick<StartClaim, 'attempt' | 'attempt_id'>): number | null {
  // The next one is dispatched after the one before it is over.
  if (task.attempt > attempt) return task.dispatched_at
  if (task.attempt < attempt || task.attempt_id !== attempt_id || isActive(task.state)) return null
  return task.finished_at
}
