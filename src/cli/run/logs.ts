// `servo run logs`: what attempts logged, once or as it comes.

import type { Command } from 'commander'
import type { LogLine, LogPage, Run, Task } from '../answers.js'
import { type ApiOptions, type Around, newPlaces, type Session, sessionOf, withApi, withExample } from '../api-command.js'
import { parseCount } from '../arguments.js'
import { FailedError } from '../exit-code.js'
import { note, printJson, printLine } from '../local/print.js'
import { clockText } from '../moments.js'
import { type Paint, painted } from '../screen.js'
import { createPatience, untilInterrupted } from '../watching.js'
import { endText } from './attempts.js'
import { findRunId, RUN_WORDS, runPath, taskPath } from './find.js'
import { isOver } from './progress.js'
import { tasksOf } from './show.js'

type Options = ApiOptions & { readonly attempt?: number; readonly follow?: boolean }

export function addLogsCommand(group: Command, around: Around): void {
  const command = withApi(group.command('logs'))
    .description('what a task logged, or all tasks of a run; --json: one object a line')
    .argument('<run>', RUN_WORDS)
    .argument('[task]', 'the key of a task, as `servo run tasks` shows it')
    .option('--attempt <number>', 'an earlier attempt; the newest where it is left out', parseCount)
    .option('--follow', 'go on with what is logged from now on, until the run is over')
    .action((run: string, task: string | undefined, options: Options) => logs(run, task, options, sessionOf(options, around)))
  withExample(command, 'servo run logs last daily_summary --follow')
}

/** How far the log of a task was read. */
type Place = { readonly attempt: number; readonly after: string | undefined; readonly isEndShown: boolean }

async function logs(text: string, task_key: string | undefined, { attempt, follow }: Options, session: Session): Promise<void> {
  const run_id = await findRunId(session, text)
  const places = new Map<string, Place>()
  const shown = { count: 0 }
  const readAll = async (): Promise<boolean> => {
    // Read before the logs: what is over when it is asked for logs nothing more.
    const run = await session.client.get<Run>(runPath(run_id), { fresh: true })
    const tasks = await tasksWanted(session, run_id, task_key)
    const prefixWidth = tasks.length > 1 ? Math.max(...tasks.map((task) => task.task_key.length)) : 0
    for (const task of tasks) {
      const prefix = prefixWidth === 0 ? '' : `${task.task_key.padEnd(prefixWidth)}  `
      const show = (line: LogLine, of: number, below: readonly string[] = []) => {
        shown.count += 1
        if (session.json) return printJson({ task_key: task.task_key, attempt: of, ...line })
        for (const text of [lineText(line, session.screen), ...below]) printLine(`${prefix}${text}`)
      }
      await readTask({ session, run_id, task, attempt, places, show })
    }
    return isOver(run.state) || (task_key !== undefined && tasks.every(({ state }) => isOver(state)))
  }
  if (follow === true) return followed(readAll)
  await readAll()
  if (shown.count === 0 && !session.json) note('Nothing was logged yet.')
}

async function tasksWanted(session: Session, run_id: string, task_key: string | undefined): Promise<readonly Task[]> {
  if (task_key !== undefined) return [await session.client.get<Task>(taskPath(run_id, task_key), { fresh: true })]
  const { rows } = await tasksOf(session, run_id)
  return [...rows].sort((a, b) => a.task_index - b.task_index)
}

type Reading = {
  readonly session: Session
  readonly run_id: string
  readonly task: Task
  readonly attempt: number | undefined
  readonly places: Map<string, Place>
  readonly show: (line: LogLine, attempt: number, below?: readonly string[]) => void
}

/** From where it stopped to the end of the newest attempt: one that was tried again is read to its end first. Behind the log
 *  of an attempt that did not succeed comes why. */
async function readTask({ session, run_id, task, attempt: only, places, show }: Reading): Promise<void> {
  const newest = only ?? task.attempt
  if (newest === 0) return
  const first = places.get(task.task_key) ?? { attempt: newest, after: undefined, isEndShown: false }
  for (let { attempt, after, isEndShown } = first; attempt <= newest; attempt++, after = undefined, isEndShown = false) {
    const assertNew = newPlaces(session.client.url, after)
    for (let isLast = false; !isLast; ) {
      const page = await session.client.get<LogPage>(`${taskPath(run_id, task.task_key)}/logs`, { attempt, after, fresh: true })
      for (const line of page.lines) show(line, page.attempt)
      after = page.next_after
      isLast = page.is_last
      if (!isLast) assertNew(after)
      // A skip is what the code wanted, and has no error.
      if (isLast && !isEndShown && page.end !== null && page.end.outcome !== 'SKIPPED') {
        show(endLine(page.attempt, page.end, session), page.attempt, stackLines(page.end))
        isEndShown = true
      }
      places.set(task.task_key, { attempt, after, isEndShown })
    }
  }
}

type AttemptEnd = NonNullable<LogPage['end']>

const END_LEVELS = { FAILED: 'ERROR', LOST: 'ERROR', CANCELLED: 'WARN', SKIPPED: 'INFO' } as const

/** As the last line of the log, which the worker of a lost attempt could not write. Programs get the parts of it too. */
function endLine(attempt: number, { outcome, reason, error, finished_at }: AttemptEnd, { json }: Pick<Session, 'json'>): LogLine {
  const why = endText({ reason, error })
  return {
    at: finished_at,
    level: END_LEVELS[outcome],
    message: `Attempt ${attempt} ${outcome === 'FAILED' ? '' : 'was '}${outcome}${why === '' ? '.' : `: ${why}`}`,
    ...(json ? { fields: { outcome, reason, error } } : {}),
  }
}

const stackLines = ({ error }: AttemptEnd): readonly string[] =>
  (error?.stack ?? '').split('\n').flatMap((line) => (line === '' ? [] : [`  ${line.replaceAll('\t', '    ')}`]))

const LOOK_AGAIN_MS = 700

const followed = (readAll: () => Promise<boolean>): Promise<void> =>
  untilInterrupted(async (until) => {
    const patience = createPatience()
    while (!until.signal.aborted) {
      if ((await patience.tried(readAll)) === true) return
      await until.sleep(LOOK_AGAIN_MS)
    }
    throw new FailedError('Stopped following; the run goes on.')
  })

const LEVEL_COLOURS = { DEBUG: 'grey', INFO: 'blue', WARN: 'yellow', ERROR: 'red' } as const
const LEVEL_WIDTH = 5

function lineText({ at, level, message, fields }: LogLine, screen: Paint): string {
  const more = Object.entries(fields ?? {}).map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  const told = more.length === 0 ? '' : `  ${painted(screen, 'grey', more.join(' '))}`
  return `${clockText(Date.parse(at))} ${painted(screen, LEVEL_COLOURS[level], level.padEnd(LEVEL_WIDTH))} ${message}${told}`
}
