// `servo run watch`: what a run does, until it is over. On a terminal the lines are drawn again, elsewhere each change is
// a line. It only looks: who stops it stops nothing else.

import type { Command } from 'commander'
import type { Run, Task } from '../answers.js'
import { type ApiOptions, type Around, type Session, sessionOf, withApi, withExample } from '../api-command.js'
import { ApiError } from '../client.js'
import { DONE, FAILED, FailedError } from '../exit-code.js'
import { note, printJson, printLine } from '../local/print.js'
import { PENDING_HINT } from '../outcome.js'
import { createRedraw } from '../screen.js'
import { createPatience, type Interruptible, untilInterrupted } from '../watching.js'
import { findRunId, RUN_WORDS, runPath } from './find.js'
import { changeLine, endLine, isOver, progressLines, taskChanges } from './progress.js'
import { tasksOf } from './show.js'

export function addWatchCommand(group: Command, around: Around): void {
  const command = withApi(group.command('watch'))
    .description('show the progress of a run until it is over; exit code 0 only if it succeeded; --json: one object a line')
    .argument('<run>', RUN_WORDS)
    .action(async (text: string, options: ApiOptions) => {
      const session = sessionOf(options, around)
      await watchRun(session, await findRunId(session, text), { says: 'changes', mayBeNew: false })
    })
  withExample(command, 'servo run watch last')
}

type Watching = {
  /** `end`: with --json the run alone, when it is over. */
  readonly says: 'changes' | 'end'
  /** It was asked for just now, and no turn may have seen it yet. */
  readonly mayBeNew: boolean
}

const LOOK_AGAIN_MS = 400
/** Looking takes time itself where there are thousands of tasks: at most a fifth of it goes into looking. */
const LOOKING_SHARE = 5
/** A line in between keeps elapsed times moving. */
const UNSEEN_MS_MAX = 10_000

const STOPPED_WATCHING = 'Stopped watching; the run goes on.'

type Seen = { readonly run: Run; readonly tasks: readonly Task[] }

export const watchRun = (session: Session, run_id: string, watching: Watching): Promise<void> =>
  untilInterrupted((until) => lookUntilOver(session, run_id, watching, until))

async function lookUntilOver(session: Session, run_id: string, { says, mayBeNew }: Watching, until: Interruptible): Promise<void> {
  const patience = createPatience()
  const show = says === 'end' && session.json ? () => undefined : shower(session)
  const began = performance.now()
  let isHinted = false
  let last: Run | undefined
  while (!until.signal.aborted) {
    const looked_at = performance.now()
    const seen = await patience.tried(() => look(session, run_id, last === undefined && mayBeNew))
    if (seen !== undefined) {
      last = seen.run
      show(seen)
      if (isOver(seen.run.state)) return ended(seen.run, session)
    } else if (last === undefined && !isHinted && performance.now() - began > UNSEEN_MS_MAX) {
      note(PENDING_HINT)
      isHinted = true
    }
    await until.sleep(Math.max(LOOK_AGAIN_MS, LOOKING_SHARE * (performance.now() - looked_at)))
  }
  throw new FailedError(STOPPED_WATCHING)
}

async function look(session: Session, run_id: string, mayBeNew: boolean): Promise<Seen | undefined> {
  try {
    // In this order: what is over when it is read has tasks that are over too.
    const run = await session.client.get<Run>(runPath(run_id), mayBeNew ? { fresh: true } : {})
    const { rows } = await tasksOf(session, run_id, { fresh: mayBeNew })
    return { run, tasks: rows }
  } catch (error) {
    if (mayBeNew && error instanceof ApiError && error.problem.status === 404) return undefined
    throw error
  }
}

function shower({ json, screen }: Session): (seen: Seen) => void {
  if (!json && screen.canRedraw) {
    const redraw = createRedraw(screen)
    return ({ run, tasks }) => redraw(progressLines({ run, tasks, now: Date.now() }, screen))
  }
  let known: ReadonlyMap<string, Task> = new Map()
  return ({ tasks }) => {
    for (const change of taskChanges(known, tasks, Date.now())) {
      if (json) printJson(change)
      else printLine(changeLine(change))
    }
    known = new Map(tasks.map((task) => [task.task_key, task]))
  }
}

function ended(run: Run, { json }: Session): void {
  if (json) printJson(run)
  else printLine(endLine(run))
  process.exitCode = run.state === 'SUCCEEDED' ? DONE : FAILED
  if (!json && run.tasks_failed > 0) note(`Why: servo run show ${run.run_id}`)
}
