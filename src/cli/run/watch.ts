// `servo run watch`: what a run does, until it is over. On a terminal the lines are drawn again, elsewhere each change is
// a line. It only looks: who stops it stops nothing else.

import type { Command } from 'commander'
import { messageOf } from '../../core/errors.js'
import type { Outcome, Run, Task } from '../answers.js'
import { type ApiOptions, type Around, type Session, sessionOf, withApi, withExample } from '../api-command.js'
import { DONE, FAILED, FailedError } from '../exit-code.js'
import { note, printJson, printLine } from '../local/print.js'
import { assertTaken, PENDING_HINT } from '../outcome.js'
import { createOverdueNote } from '../overdue-note.js'
import { createRedraw, wrapped } from '../screen.js'
import { outcomeOf } from '../settled.js'
import { createPatience, type Interruptible, untilInterrupted } from '../watching.js'
import { findRunId, isNotFound, RUN_WORDS, readRun, runPath } from './find.js'
import { changeLine, endLine, isOver, progressLines, taskChanges } from './progress.js'
import { tasksOf } from './show.js'
import { createStallWatch, type Stall } from './stall.js'
import { inLocalTime, readWhy } from './why.js'

export function addWatchCommand(group: Command, around: Around): void {
  const command = withApi(group.command('watch'))
    .description('show the progress of a run until it is over; exit code 0 only if it succeeded; --json: one object a line')
    .argument('<run>', RUN_WORDS)
    .action(async (text: string, options: ApiOptions) => {
      const session = sessionOf(options, around)
      await watchRun(session, await findRunId(session, text), { says: 'changes', isHinted: false })
    })
  withExample(command, 'servo run watch last')
}

type Watching = {
  /** `end`: with --json the run alone, when it is over. */
  readonly says: 'changes' | 'end'
  /** That of the request, which was accepted just now: the run may not be there for as long as no turn takes it up. */
  readonly accepted_event_id?: string
  /** It was said already that no turn has taken it up. */
  readonly isHinted: boolean
}

const LOOK_AGAIN_MS = 400
/** Looking takes time itself where there are thousands of tasks: at most a fifth of it goes into looking. */
const LOOKING_SHARE = 5
/** A turn takes a run up within a second or two. */
const TAKEN_UP_MS_MAX = 10_000

const STOPPED_WATCHING = 'Stopped watching; the run goes on.'

type Seen = { readonly run: Run; readonly tasks: readonly Task[] }
/** `stall`: why the run stands still, if it does. */
type Shown = Seen & { readonly stall?: Stall | undefined }

const watchRun = (session: Session, run_id: string, watching: Watching): Promise<void> =>
  untilInterrupted((until) => lookUntilOver(session, run_id, watching, until))

type AcceptedRun = { readonly accepted_event_id: string; readonly outcome?: Outcome | undefined }

/** A run that was accepted comes, whatever is away meanwhile: it is waited for until it is over. */
export async function watchAccepted(session: Session, run_id: string, { accepted_event_id, outcome }: AcceptedRun): Promise<void> {
  const isHinted = outcome?.kind === 'pending'
  if (isHinted) note(PENDING_HINT)
  await watchRun(session, run_id, { says: session.json ? 'end' : 'changes', accepted_event_id, isHinted })
}

async function lookUntilOver(session: Session, run_id: string, watching: Watching, until: Interruptible): Promise<void> {
  const { says, accepted_event_id } = watching
  let { isHinted } = watching
  function hint(sentence: string): void {
    if (!isHinted) note(sentence)
    isHinted = true
  }
  // Only a request that this command sent is known to be accepted.
  const onNotTakenUp = (error: Error) => hint(accepted_event_id === undefined ? messageOf(error) : PENDING_HINT)
  const patience = createPatience({ hasAnswered: accepted_event_id !== undefined, onNotTakenUp })
  const noteOverdue = createOverdueNote(session, () => performance.now())
  const show = says === 'end' && session.json ? noteStalls() : shower(session)
  const stallOf = createStallWatch({ ask: (task_key) => readWhy(session, run_id, task_key), elapsed: () => performance.now() })
  const began = performance.now()
  let isKnown = accepted_event_id !== undefined
  let isTakenUp = false
  while (!until.signal.aborted) {
    const looked_at = performance.now()
    const seen = await patience.tried(() => look(session, run_id, isKnown))
    const looking_ms = performance.now() - looked_at
    if (seen !== undefined) {
      isKnown = true
      const isEnd = isOver(seen.run.state)
      show({ ...seen, stall: isEnd ? undefined : await patience.tried(() => stallOf(seen.tasks)) })
      if (isEnd) return ended(seen.run, session)
    } else if (accepted_event_id !== undefined) {
      await patience.tried(async () => assertTaken(await outcomeOf(session, accepted_event_id, 0), `Run ${run_id}`))
    }
    isTakenUp ||= seen !== undefined && seen.run.state !== 'PENDING'
    if (!isTakenUp && looked_at - began > TAKEN_UP_MS_MAX) hint(PENDING_HINT)
    if (!isTakenUp && isHinted) await noteOverdue()
    await until.sleep(Math.max(LOOK_AGAIN_MS, LOOKING_SHARE * looking_ms))
  }
  throw new FailedError(STOPPED_WATCHING)
}

/** undefined: it is known to be there, and cannot be seen now. */
async function look(session: Session, run_id: string, isKnown: boolean): Promise<Seen | undefined> {
  try {
    return await readRun((fresh) => seenOf(session, run_id, fresh))
  } catch (error) {
    if (isKnown && isNotFound(error)) return undefined
    throw error
  }
}

/** In this order: what is over when it is read has tasks that are over too. */
async function seenOf(session: Session, run_id: string, fresh: boolean): Promise<Seen> {
  const run = await session.client.get<Run>(runPath(run_id), fresh ? { fresh } : {})
  const { rows } = await tasksOf(session, run_id, { fresh })
  return { run, tasks: rows }
}

function shower({ json, screen }: Session): (shown: Shown) => void {
  if (!json && screen.canRedraw) {
    const redraw = createRedraw(screen)
    return ({ run, tasks, stall }) => {
      const below = stall === undefined ? [] : wrapped(inLocalTime(stall.sentence, Date.now()), screen.columns())
      const rows = () => screen.rows() - below.length
      redraw([...progressLines({ run, tasks, now: Date.now() }, { ...screen, rows }), ...below])
    }
  }
  let known: ReadonlyMap<string, Task> = new Map()
  const noteStall = noteStalls()
  return ({ tasks, stall }) => {
    noteStall({ stall })
    for (const change of taskChanges(known, tasks, Date.now())) {
      if (json) printJson(change)
      else printLine(changeLine(change))
    }
    known = new Map(tasks.map((task) => [task.task_key, task]))
  }
}

/** Prints a line for each new reason. */
function noteStalls(): (shown: Pick<Shown, 'stall'>) => void {
  let kind: string | undefined
  return ({ stall }) => {
    if (stall !== undefined && stall.kind !== kind) note(inLocalTime(stall.sentence, Date.now()))
    kind = stall?.kind
  }
}

function ended(run: Run, { json }: Session): void {
  if (json) printJson(run)
  else printLine(endLine(run))
  process.exitCode = run.state === 'SUCCEEDED' ? DONE : FAILED
  if (!json && run.tasks_failed > 0) note(`Why: servo run show ${run.run_id}`)
}
