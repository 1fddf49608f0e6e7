// How far a run is, as lines: one for each asset on a terminal, one for each change elsewhere. Pure.

import type { Run, Task } from '../answers.js'
import { clockText, durationText, tookText } from '../moments.js'
import { type Paint, painted, paintedState, type Screen } from '../screen.js'

/** A run in one of these says nothing more. */
export const isOver = (state: string): boolean =>
  state === 'SUCCEEDED' || state === 'FAILED' || state === 'CANCELLED' || state === 'SKIPPED'

/** An attempt is with a worker, or on its way to one. */
export const isActive = (state: string): boolean => state === 'DISPATCHED' || state === 'RUNNING'

/** `9/60 reading`, or what there is of it. */
export function progressText(progress: unknown): string {
  if (typeof progress !== 'object' || progress === null) return ''
  const { done, total, message } = progress as { readonly done?: number; readonly total?: number; readonly message?: string }
  const share = done === undefined ? '' : total === undefined ? String(done) : `${done}/${total}`
  return [share, message ?? ''].filter((part) => part !== '').join(' ')
}

type AssetProgress = {
  readonly asset_key: string
  readonly state: string
  /** The highest of its tasks. */
  readonly attempt: number
  readonly tasks_total: number
  readonly tasks_over: number
  /** From the first start to the last end, or to now. */
  readonly elapsed_ms: number | undefined
  /** What the first of its tasks that runs says. */
  readonly progress: string
  readonly error: string | undefined
}

/** What is under way is told before what waits, and what failed before what went well. */
const OPEN_STATES = ['RUNNING', 'DISPATCHED', 'RETRY_WAIT', 'READY', 'PLANNED', 'BLOCKED'] as const
const OVER_STATES = ['FAILED', 'CANCELLED', 'SKIPPED', 'SUCCEEDED'] as const

/** In the order of the plan, which is upstream first. */
export function assetProgress(tasks: readonly Task[], now: number): readonly AssetProgress[] {
  const byAsset = new Map<string, Task[]>()
  for (const task of [...tasks].sort((a, b) => a.task_index - b.task_index)) {
    const others = byAsset.get(task.asset_key)
    if (others === undefined) byAsset.set(task.asset_key, [task])
    else others.push(task)
  }
  return [...byAsset].map(([asset_key, ofAsset]) => progressOf(asset_key, ofAsset, now))
}

function progressOf(asset_key: string, tasks: readonly Task[], now: number): AssetProgress {
  const states = new Set(tasks.map(({ state }) => state))
  const over = tasks.filter(({ state }) => isOver(state))
  const started = tasks.flatMap(({ started_at }) => (started_at === null ? [] : [Date.parse(started_at)]))
  const finished = tasks.flatMap(({ finished_at }) => (finished_at === null ? [] : [Date.parse(finished_at)]))
  const end = over.length === tasks.length ? Math.max(...finished) : now
  return {
    asset_key,
    state: [...OPEN_STATES, ...OVER_STATES].find((state) => states.has(state)) ?? tasks[0]?.state ?? '',
    attempt: Math.max(...tasks.map(({ attempt }) => attempt)),
    tasks_total: tasks.length,
    tasks_over: over.length,
    elapsed_ms: started.length === 0 ? undefined : Math.max(0, end - Math.min(...started)),
    progress: tasks.map(({ state, progress }) => (state === 'RUNNING' ? progressText(progress) : '')).find((text) => text !== '') ?? '',
    // Of an attempt that is under way, the error is that of the one before it.
    error: tasks.find(({ state, error }) => error !== null && state !== 'SUCCEEDED' && !isActive(state))?.error?.message,
  }
}

const BAR_WIDTH = 20
const NAME_WIDTH_MAX = 40
const STATE_WIDTH = 10
/** The head, the line of what is left out, and the one that the cursor is in. */
const ROWS_TAKEN = 3

export function bar(done: number, total: number, width = BAR_WIDTH): string {
  // Full only where all is done, and never empty where something is.
  const share = total === 0 ? 0 : done / total
  const filled = done === 0 ? 0 : done === total ? width : Math.min(width - 1, Math.max(1, Math.round(share * width)))
  return `${'█'.repeat(filled)}${'░'.repeat(width - filled)}`
}

type Drawn = { readonly run: Run; readonly tasks: readonly Task[]; readonly now: number }

export function progressLines({ run, tasks, now }: Drawn, screen: Paint & Pick<Screen, 'columns' | 'rows'>): readonly string[] {
  const assets = assetProgress(tasks, now)
  const rows = Math.max(1, screen.rows() - ROWS_TAKEN)
  const shown = assets.length <= rows ? assets : mostTelling(assets, rows)
  const width = Math.min(NAME_WIDTH_MAX, Math.max(0, ...shown.map(({ asset_key }) => asset_key.length)))
  const hidden = assets.length - shown.length
  return [
    headLine(run, now, screen),
    ...shown.map((asset) => assetLine(asset, width, screen)),
    ...(hidden === 0 ? [] : [painted(screen, 'grey', `  … and ${hidden} more asset${hidden === 1 ? '' : 's'}`)]),
  ]
}

function headLine(run: Run, now: number, screen: Paint): string {
  const over = run.tasks_total - run.tasks_open
  const tasks = run.tasks_total === 0 ? 'no tasks yet' : `${bar(over, run.tasks_total)} ${over}/${run.tasks_total}`
  return `${run.run_id}  ${paintedState(screen, run.state)}  ${tasks}  ${tookText(run.requested_at, run.finished_at, now)}`
}

function assetLine(asset: AssetProgress, width: number, screen: Paint): string {
  const { asset_key, state, attempt, tasks_over, tasks_total, elapsed_ms, progress, error } = asset
  const name = asset_key.length > width ? `${asset_key.slice(0, width - 1)}…` : asset_key.padEnd(width)
  const parts = [
    `  ${name}`,
    paintedState(screen, state.padEnd(STATE_WIDTH)),
    `${bar(tasks_over, tasks_total)} ${tasks_over}/${tasks_total}`,
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    ...(elapsed_ms === undefined ? [] : [durationText(elapsed_ms)]),
    ...(progress === '' ? [] : [firstLine(progress)]),
    ...(error === undefined ? [] : [painted(screen, 'red', firstLine(error))]),
  ]
  return parts.join('  ').trimEnd()
}

export const firstLine = (text: string): string => text.split('\n')[0] ?? ''

const SHORT_CHARACTERS_MAX = 60

/** For a cell of a table. */
export function shortLine(text: string): string {
  const line = firstLine(text)
  return line.length <= SHORT_CHARACTERS_MAX ? line : `${line.slice(0, SHORT_CHARACTERS_MAX - 1)}…`
}

/** What moves or failed is looked for; what went well or waits is known. The order stays that of the plan. */
function mostTelling(assets: readonly AssetProgress[], count: number): readonly AssetProgress[] {
  const RANKS = ['FAILED', 'RUNNING', 'RETRY_WAIT', 'DISPATCHED', 'READY', 'CANCELLED', 'SKIPPED', 'BLOCKED', 'PLANNED', 'SUCCEEDED']
  const chosen = new Set([...assets].sort((a, b) => RANKS.indexOf(a.state) - RANKS.indexOf(b.state)).slice(0, count))
  return assets.filter((asset) => chosen.has(asset))
}

type TaskChange = Pick<Task, 'task_key' | 'state' | 'attempt'> & {
  readonly at: string
  readonly error?: Task['error']
  /** Why the attempt before this one ended. */
  readonly earlier_error?: Task['error']
}

type Known = ReadonlyMap<string, Pick<Task, 'state' | 'attempt'>>

/** What is otherwise than it was, in the order of the plan. */
export function taskChanges(before: Known, tasks: readonly Task[], now: number): readonly TaskChange[] {
  return [...tasks]
    .sort((a, b) => a.task_index - b.task_index)
    .filter(({ task_key, state, attempt }) => {
      const known = before.get(task_key)
      return known === undefined || known.state !== state || known.attempt !== attempt
    })
    .map((task) => ({
      at: changedAt(task) ?? new Date(now).toISOString(),
      task_key: task.task_key,
      state: task.state,
      attempt: task.attempt,
      ...(task.error === null ? {} : isActive(task.state) ? { earlier_error: task.error } : { error: task.error }),
    }))
}

const changedAt = ({ state, started_at, finished_at, dispatched_at }: Task): string | null => {
  if (isOver(state)) return finished_at
  if (state === 'RUNNING') return started_at
  return state === 'DISPATCHED' ? dispatched_at : null
}

export function changeLine({ at, task_key, state, attempt, error, earlier_error }: TaskChange): string {
  const again = attempt > 1 ? `, attempt ${attempt}` : ''
  const before = earlier_error == null ? '' : ` (attempt ${attempt - 1}: ${firstLine(earlier_error.message)})`
  const why = error == null ? '' : `: ${firstLine(error.message)}`
  return `${clockText(Date.parse(at))} ${task_key} ${state}${again}${before}${why}`
}

/** How a run ended, for people. */
export function endLine({
  run_id,
  state,
  tasks_total,
  tasks_succeeded,
  tasks_failed,
  tasks_skipped,
  tasks_cancelled,
  ...run
}: Run): string {
  const parts = [
    [tasks_succeeded, 'succeeded'],
    [tasks_failed, 'failed'],
    [tasks_skipped, 'skipped'],
    [tasks_cancelled, 'cancelled'],
  ] as const
  const told = parts.flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`])).join(', ')
  const tasks = tasks_total === 0 ? '' : ` ${tasks_total} task${tasks_total === 1 ? '' : 's'}: ${told}.`
  const why = run.error === null ? '' : ` ${run.error.message}`
  return `Run ${run_id} ${state} in ${tookText(run.requested_at, run.finished_at, Date.parse(run.requested_at))}.${tasks}${why}`
}
