// `servo run show`, `servo run tasks` and `servo run events`: one run, its tasks, what happened to it.

import type { Command } from 'commander'
import type { Run, Task, TimelineEntry } from '../answers.js'
import { type ApiOptions, type Around, listed, type Session, sessionOf, withApi, withExample } from '../api-command.js'
import { byText } from '../commanded.js'
import { note, printJson, printLine, printTable } from '../local/print.js'
import { localText, momentText, tookText } from '../moments.js'
import { paintedState, type Screen } from '../screen.js'
import { findRunId, RUN_WORDS, runPath } from './find.js'
import { assetsText, partitionsText } from './list.js'
import { firstLine, isActive, progressText, shortLine } from './progress.js'

export function addShowCommand(group: Command, around: Around): void {
  const command = withApi(group.command('show'))
    .description('one run, and what failed of it')
    .argument('<run>', RUN_WORDS)
    .action((run: string, options: ApiOptions) => show(run, sessionOf(options, around)))
  withExample(command, 'servo run show last')
}

export function addTasksCommand(group: Command, around: Around): void {
  const command = withApi(group.command('tasks'))
    .description('the tasks of a run')
    .argument('<run>', RUN_WORDS)
    .option('--state <state>', 'only those in this state, such as FAILED', (text) => text.toUpperCase())
    .action((run: string, options: ApiOptions & { readonly state?: string }) => tasks(run, options.state, sessionOf(options, around)))
  withExample(command, 'servo run tasks last --state FAILED')
}

export function addEventsCommand(group: Command, around: Around): void {
  const command = withApi(group.command('events'))
    .description('what happened to a run, oldest first')
    .argument('<run>', RUN_WORDS)
    .action((run: string, options: ApiOptions) => events(run, sessionOf(options, around)))
  withExample(command, 'servo run events last')
}

const FAILED_SHOWN = 5

async function show(text: string, session: Session): Promise<void> {
  const run_id = await findRunId(session, text)
  const run = await session.client.get<Run>(runPath(run_id), { fresh: true })
  if (session.json) return printJson(run)
  for (const line of runLines(run, session.screen, Date.now())) printLine(line)
  if (run.tasks_open > 0) await showRetries(run_id, session)
  if (run.tasks_failed === 0) return
  const { rows } = await tasksOf(session, run_id, { state: 'FAILED', limit: FAILED_SHOWN })
  for (const { task_key, error, outcome_reason } of rows)
    printLine(`  failed     ${task_key}: ${firstLine(error?.message ?? outcome_reason ?? 'It says no reason.')}`)
  const hidden = run.tasks_failed - rows.length
  if (hidden > 0) printLine(`             and ${hidden} more: servo run tasks ${run_id} --state FAILED`)
  const [first] = rows
  if (first !== undefined) note(`Its log: servo run logs ${run_id} '${first.task_key}'`)
  // Not an error of its code: the reason is a word, and has more to it.
  const lost = rows.find(({ error }) => error === null)
  if (lost !== undefined) note(`Why, and what to do: servo run why ${run_id} '${lost.task_key}'`)
}

/** Tasks that wait for their next try, and what became of the last one. */
async function showRetries(run_id: string, session: Session): Promise<void> {
  const { rows } = await tasksOf(session, run_id, { state: 'RETRY_WAIT', limit: FAILED_SHOWN })
  for (const task of rows) {
    const at = task.retry_at === null ? 'soon' : localText(Date.parse(task.retry_at))
    const said = firstLine(task.error?.message ?? task.outcome_reason ?? '')
    printLine(`  again      ${task.task_key}: ${at}, after attempt ${triesText(task)}${said === '' ? '' : `: ${said}`}`)
  }
}

/** Losses and what was given back are more tries than the code's own. */
const triesText = ({ attempt, max_attempts, infra_losses, releases }: Task): string =>
  `${attempt}/${max_attempts + infra_losses + (releases ?? 0)}`

function runLines(run: Run, screen: Screen, now: number): readonly string[] {
  const over = run.tasks_total - run.tasks_open
  const tags = Object.entries(run.tags).map(([name, value]) => `${name}=${value}`)
  const members: readonly (readonly [string, string])[] = [
    ['state', paintedState(screen, run.state)],
    ['tasks', run.tasks_total === 0 ? '' : `${over} of ${run.tasks_total} over: ${countsText(run)}`],
    ['assets', 'keys' in run.assets ? run.assets.keys.join(', ') : assetsText(run)],
    ['partitions', partitionsText(run.partitions)],
    ['tags', tags.join(', ')],
    ['run key', run.run_key],
    ['rerun of', run.parent_run_id ?? ''],
    ['priority', run.priority === 0 ? '' : String(run.priority)],
    ['source', sourceText(run)],
    ['requested', `${momentText(run.requested_at, now)}${byText(run.requested_by, run.reason)}`],
    ['planned', momentText(run.planned_at, now)],
    ['started', momentText(run.started_at, now)],
    [
      'cancelled',
      run.cancel_requested_at === null
        ? ''
        : `${momentText(run.cancel_requested_at, now)}${byText(run.cancel_requested_by, run.cancel_reason)}`,
    ],
    ['finished', momentText(run.finished_at, now)],
    ['took', tookText(run.started_at, run.finished_at, now)],
    ['error', run.error?.message ?? ''],
  ]
  return [`Run ${run.run_id}`, ...members.flatMap(([name, value]) => (value === '' ? [] : [`  ${name.padEnd(10)} ${value}`]))]
}

/** What requested it, where that is no person. */
function sourceText({ trigger_type, schedule_name, schedule_id, tick_id, sensor_id, backfill_id, chunk_index }: Run): string {
  if (schedule_id !== null) return `schedule ${schedule_name ?? schedule_id}${tick_id === null ? '' : `, tick ${tick_id}`}`
  if (sensor_id !== null) return `sensor ${sensor_id}`
  if (backfill_id !== null) return `backfill ${backfill_id}${chunk_index === null ? '' : `, chunk ${chunk_index}`}`
  return trigger_type === 'MANUAL' ? '' : trigger_type.toLowerCase()
}

const countsText = ({ tasks_succeeded, tasks_failed, tasks_skipped, tasks_cancelled }: Run): string =>
  `${tasks_succeeded} succeeded, ${tasks_failed} failed, ${tasks_skipped} skipped, ${tasks_cancelled} cancelled`

type Asked = { readonly state?: string | undefined; readonly limit?: number; readonly fresh?: boolean }

export const tasksOf = (session: Pick<Session, 'client'>, run_id: string, { state, limit, fresh = true }: Asked = {}) =>
  listed<'tasks', Task>(session, {
    path: `${runPath(run_id)}/tasks`,
    member: 'tasks',
    query: { state, fresh: fresh ? true : undefined },
    ...(limit === undefined ? {} : { limit }),
  })

async function tasks(text: string, state: string | undefined, session: Session): Promise<void> {
  const run_id = await findRunId(session, text)
  const { rows } = await tasksOf(session, run_id, { state })
  const inOrder = [...rows].sort((a, b) => a.task_index - b.task_index)
  if (session.json) return printJson(inOrder)
  if (rows.length === 0) return note(state === undefined ? 'The run has no tasks yet: it is not planned.' : `No task is ${state}.`)
  const now = Date.now()
  printTable(
    ['task', 'state', 'attempt', 'partitions', 'started', 'took', 'worker', 'what it says'],
    inOrder.map((task) => [
      task.task_key,
      paintedState(session.screen, task.state),
      triesText(task),
      partitionsText(task.partitions),
      task.started_at === null ? '' : localText(Date.parse(task.started_at)),
      tookText(task.started_at, task.finished_at, now),
      task.worker_id ?? '',
      saying(task),
    ]),
  )
}

/** What the one before it ended with is no news of an attempt that is under way. */
function saying({ error, skip_reason, outcome_reason, progress, state }: Task): string {
  if (isActive(state)) return shortLine(progressText(progress))
  return shortLine(error?.message ?? skip_reason ?? (state === 'SUCCEEDED' ? '' : (outcome_reason ?? progressText(progress))))
}

async function events(text: string, session: Session): Promise<void> {
  const run_id = await findRunId(session, text)
  const { rows } = await listed<'events', TimelineEntry>(session, {
    path: `${runPath(run_id)}/events`,
    member: 'events',
    query: { fresh: true },
  })
  if (session.json) return printJson(rows)
  printTable(
    ['at', 'event', 'task', 'attempt', 'detail'],
    rows.map(({ at, event_type, task_key, attempt, detail }) => [
      localText(Date.parse(at)),
      event_type,
      task_key ?? '',
      attempt === undefined ? '' : String(attempt),
      detailText(detail),
    ]),
  )
}

function detailText(detail: TimelineEntry['detail']): string {
  return Object.entries(detail ?? {})
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : messageIn(value)}`)
    .join(', ')
}

function messageIn(value: unknown): string {
  const isError = typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string'
  return isError ? firstLine(value.message as string) : JSON.stringify(value)
}
