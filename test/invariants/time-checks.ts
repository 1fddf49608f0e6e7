// What must hold of the times in the tables: no row says that something happened before what it rests on, whatever the clocks
// of those who said so. Each check answers sentences that begin with the invariant they speak for.

import type { LooseRow, TableName } from '../../src/projections/tables.js'

type Complete = ReadonlyMap<TableName, readonly LooseRow[]>

/** Of a row alone, in the order in which they come. */
const IN_ORDER: readonly (readonly [TableName, ...(readonly string[])])[] = [
  ['runs', 'requested_at', 'planned_at', 'started_at', 'finished_at'],
  ['runs', 'requested_at', 'cancel_requested_at'],
  ['tasks', 'ready_at', 'dispatched_at', 'started_at', 'last_heartbeat_at', 'finished_at'],
  ['failed_attempts', 'dispatched_at', 'started_at', 'finished_at'],
  ['dispatch_outbox', 'requested_at', 'enqueued_at', 'closed_at'],
  ['asset_definitions', 'defined_at', 'current_since_at'],
  ['schedule_definitions', 'created_at', 'updated_at', 'removed_at'],
  ['names', 'taken_at', 'released_at'],
]

const KEYS = ['run_id', 'task_key', 'attempt', 'asset_key', 'schedule_id', 'name'] as const

function nameOf(row: LooseRow): string {
  return KEYS.flatMap((key) => (row[key] === undefined ? [] : [String(row[key])])).join(' ')
}

const attemptOf = (row: LooseRow, step = 0): string =>
  `${String(row['run_id'])} ${String(row['task_key'])} ${Number(row['attempt']) + step}`

/** The first two that are the wrong way round. */
function outOfOrder(times: readonly (readonly [string, unknown])[]): string | undefined {
  let [before, latest] = ['', Number.NEGATIVE_INFINITY]
  for (const [name, at] of times) {
    if (typeof at !== 'number') continue
    if (at < latest) return `${name} is ${new Date(at).toISOString()}, before ${before}, which is ${new Date(latest).toISOString()}`
    ;[before, latest] = [name, at]
  }
  return undefined
}

/** I33 */
export function checkTimes(tables: Complete, at: string): string[] {
  const rows = (table: TableName) => tables.get(table) ?? []
  const problems: string[] = []
  const check = (table: TableName, row: LooseRow, times: readonly (readonly [string, unknown])[]) => {
    const wrong = outOfOrder(times)
    if (wrong !== undefined) problems.push(`I33 ${at}, of ${table} ${nameOf(row)}: ${wrong}.`)
  }
  for (const [table, ...columns] of IN_ORDER) {
    for (const row of rows(table))
      check(
        table,
        row,
        columns.map((column) => [column, row[column]] as const),
      )
  }
  const runs = new Map(rows('runs').map((run) => [run['run_id'], run]))
  const failures = new Map(rows('failed_attempts').map((row) => [attemptOf(row), row]))
  const tasks = new Map(rows('tasks').map((task) => [`${String(task['run_id'])} ${String(task['task_key'])}`, task]))
  for (const task of tasks.values()) {
    const run = runs.get(task['run_id'])
    if (run === undefined) continue
    const [first, last] = [
      ['run.planned_at', run['planned_at']],
      ['run.finished_at', run['finished_at']],
    ] as const
    check('tasks', task, [first, ['ready_at', task['ready_at']]])
    check('tasks', task, [first, ['finished_at', task['finished_at']], last])
    check('tasks', task, [['run.started_at', run['started_at']], last])
  }
  for (const edge of rows('dep_satisfaction')) {
    const upstream = tasks.get(`${String(edge['run_id'])} ${String(edge['upstream_task_key'])}`)
    if (upstream !== undefined)
      check('dep_satisfaction', edge, [
        ['upstream.finished_at', upstream['finished_at']],
        ['resolved_at', edge['resolved_at']],
      ])
  }
  for (const failure of failures.values()) {
    const task = tasks.get(`${String(failure['run_id'])} ${String(failure['task_key'])}`)
    check('failed_attempts', failure, [
      ['finished_at', failure['finished_at']],
      ['task.finished_at', task?.['finished_at']],
    ])
    const before = failures.get(attemptOf(failure, -1))
    check('failed_attempts', failure, [
      ['finished_at of the attempt before', before?.['finished_at']],
      ['dispatched_at', failure['dispatched_at']],
    ])
  }
  for (const dispatch of rows('dispatch_outbox')) {
    check('dispatch_outbox', dispatch, [
      ['finished_at of the attempt before', failures.get(attemptOf(dispatch, -1))?.['finished_at']],
      ['requested_at', dispatch['requested_at']],
    ])
    check('dispatch_outbox', dispatch, [
      ['closed_at', dispatch['closed_at']],
      ['finished_at of the attempt', failures.get(attemptOf(dispatch))?.['finished_at']],
    ])
    const task = tasks.get(`${String(dispatch['run_id'])} ${String(dispatch['task_key'])}`)
    if (task === undefined || task['attempt'] !== dispatch['attempt']) continue
    check('dispatch_outbox', dispatch, [
      ['task.dispatched_at', task['dispatched_at']],
      ['closed_at', dispatch['closed_at']],
      ['task.finished_at', task['finished_at']],
    ])
  }
  return problems
}
