// Published dispatches that have not started, with all that is needed to hand them over.

import type { Selector } from '../events/value.js'
import { readList } from '../ledger/lists.js'
import { type DispatchOutboxRow, OPEN_OUTBOX, type TaskRow } from '../projections/run-table.js'
import { keyText } from '../projections/tables.js'
import type { ObjectStore } from '../storage/object-store.js'
import type { View } from './reader.js'

type Unstarted = { readonly outbox: DispatchOutboxRow; readonly task: TaskRow }

/** Of the attempts that are out: at most as many as may run at once, whatever is ready. */
const UNSTARTED_MAX = 10_000

/** A queue that has it delivers it by itself, and remembers for how long: it is not sent to it a second time. */
export const isWithQueue = ({ status, port }: Pick<DispatchOutboxRow, 'status' | 'port'>): boolean =>
  status === 'ACKED' && port === 'CLOUD_TASKS'

export async function readUnstarted(view: View): Promise<readonly Unstarted[]> {
  const where = [{ column: OPEN_OUTBOX.column, in: OPEN_OUTBOX.values }]
  const outbox = (await view.few('dispatch_outbox', where)).slice(0, UNSTARTED_MAX)
  const tasks = await view.rows(
    'tasks',
    outbox.map(({ run_id, task_key }) => [run_id, task_key]),
  )
  const byKey = new Map(tasks.map((task) => [keyText([task.run_id, task.task_key]), task]))
  return outbox.flatMap((row) => {
    const task = byKey.get(keyText([row.run_id, row.task_key]))
    return task !== undefined && task.attempt_id === row.attempt_id ? [{ outbox: row, task }] : []
  })
}

/** The long lists that these selectors name; one that is gone is left out. */
export async function readTaskLists(store: ObjectStore, selectors: readonly Selector[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const names = new Set(selectors.flatMap((selector) => (selector !== null && 'list' in selector ? [selector.list.sha256] : [])))
  const found = await Promise.all([...names].map(async (sha256) => [sha256, await readList(store, sha256)] as const))
  return new Map(found.flatMap(([sha256, list]) => (list === undefined ? [] : [[sha256, list] as const])))
}
