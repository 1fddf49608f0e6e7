// What the loop of a schedule calls: it says what was signalled, sees to it that what is due is decided, and answers how the
// schedule stands. It decides nothing: the turn does, and where that has published already, nobody is asked.

import type { RunDeps } from '../../commands/run-request.js'
import type { Submit } from '../../commands/submit.js'
import { unavailable } from '../../core/errors.js'
import type { Scope } from '../../core/ids.js'
import { manualTickId } from '../../core/keys.js'
import { BACKSTOP_MS } from '../../core/limits.js'
import { SCHEDULE_CALL_WAIT_MS_MAX } from '../../core/loop-limits.js'
import { type Clock, instantText } from '../../core/time.js'
import type { Current } from '../../readers/current.js'
import type { View } from '../../readers/reader.js'
import { readRunsOfTicks, SCHEDULE_READS, type Schedule } from '../../readers/schedules.js'
import { type Asked, outcomeIn } from '../../readers/wait.js'
import type { ScheduleCall, ScheduleReport, TriggerAnswer } from '../../workflows/contract.js'
import { explained } from '../failures.js'
import { leaveOn, leaving } from '../leave.js'
import { servedScope } from '../served-scope.js'
import type { Ask } from './ask.js'
import { reportOf, undecidedAt } from './report.js'
import { sayStatus, sayTrigger } from './say.js'

export type ScheduleCallDeps = RunDeps & {
  readonly scope: Scope
  readonly clock: Clock
  readonly current: Current
  readonly ask: Ask
  readonly submit: Submit
  /** Aborted when this process is about to end: nobody would take the turn that is waited for. */
  readonly stopping: AbortSignal
}

/** The last time that anything was heard: what this call rests on. */
type Seen = { readonly view: View | undefined; readonly schedule: Schedule | undefined }

type SaidAll = {
  readonly asked: readonly Asked[]
  /** Request ids of those whose tick is in the ledger, or is known to be refused. */
  readonly triggers: readonly string[]
  readonly statuses: readonly SaidStatus[]
  /** Sentences about pauses and resumes that could not even be said. */
  readonly problems: readonly string[]
  readonly answers: Record<string, TriggerAnswer>
}

type SaidStatus = { readonly kind: 'pause' | 'resume'; readonly asked: Asked }

export const createScheduleCalls = (deps: ScheduleCallDeps) => ({
  async scheduleTurn({ schedule_id, commands, ...scope }: ScheduleCall): Promise<ScheduleReport> {
    servedScope(deps, scope)
    // What was said by then is appended, and absorbed when the call is made again.
    return explained(() =>
      leaveOn(deps.stopping, async () => {
        const said = await sayAll(deps, schedule_id, commands)
        const seen = await untilDecided(deps, schedule_id, said.asked)
        return answer(deps, schedule_id, seen, said)
      }),
    )
  },
})

/** One after the other: a pause and a resume in one moment mean something else the other way round. */
async function sayAll(deps: ScheduleCallDeps, schedule_id: string, commands: ScheduleCall['commands']): Promise<SaidAll> {
  const asked: Asked[] = []
  const triggers: string[] = []
  const answers: Record<string, TriggerAnswer> = {}
  const statuses: SaidStatus[] = []
  const problems: string[] = []
  for (const command of commands) {
    const { kind, request_id } = command
    const said =
      kind === 'trigger'
        ? await sayTrigger(deps, await deps.current.latest(), schedule_id, command)
        : await sayStatus(deps.submit, schedule_id, command)
    if ('problem' in said) {
      if (kind === 'trigger') answers[request_id] = { problem: said.problem }
      else problems.push(said.problem)
      continue
    }
    if (kind === 'trigger') triggers.push(request_id)
    if (said.asked === undefined) continue
    asked.push(said.asked)
    if (kind !== 'trigger') statuses.push({ kind, asked: said.asked })
  }
  return { asked, triggers, statuses, problems, answers }
}

/** A revision in which everything that was said has its outcome, and nothing that is due waits for a decision. */
async function untilDecided(deps: ScheduleCallDeps, schedule_id: string, said: readonly Asked[]): Promise<Seen> {
  const { clock, current, ask, submit, stopping } = deps
  const began = clock.elapsed()
  let view = await current.latest()
  let pending = said
  for (;;) {
    const schedule = await SCHEDULE_READS.lookUp(view, schedule_id)
    pending = await stillPending(view, pending)
    const due_at = schedule === undefined ? null : undecidedAt(schedule)
    const isDue = due_at !== null && due_at <= submit.appender.now()
    if (!isDue && pending.length === 0) return { view, schedule }
    const left_ms = SCHEDULE_CALL_WAIT_MS_MAX - (clock.elapsed() - began)
    if (stopping.aborted) throw leaving()
    if (left_ms <= 0) throw unavailable(noTurnText(isDue ? due_at : null))
    view = (await ask(view?.sequence ?? 0, left_ms)) ?? view
  }
}

const noTurnText = (due_at: number | null): string =>
  `No turn of the workspace has ${due_at === null ? 'folded what was said here' : `decided what was due at ${instantText(due_at)}`} within ` +
  `${SCHEDULE_CALL_WAIT_MS_MAX / 1_000} s. Nothing is lost; the page of the workspace's own loop says what keeps it.`

async function stillPending(view: View | undefined, asked: readonly Asked[]): Promise<readonly Asked[]> {
  if (view === undefined || asked.length === 0) return asked
  const outcomes = await Promise.all(asked.map((each) => outcomeIn(view, each)))
  return asked.filter((_, i) => outcomes[i]?.kind === 'pending')
}

async function answer({ submit }: ScheduleCallDeps, schedule_id: string, { view, schedule }: Seen, said: SaidAll): Promise<ScheduleReport> {
  const answers = { ...said.answers, ...(await answersOf(view, schedule_id, said.triggers)) }
  const problems = [...said.problems, ...(await refusalsOf(view, said.statuses))]
  const refused = problems.length === 0 ? null : problems.join(' ')
  const sequence = view?.sequence ?? 0
  if (view === undefined || schedule === undefined) {
    return { sequence, status: 'WAITING', wake_in_ms: BACKSTOP_MS, next_fire_at: null, shown: null, answers, refused }
  }
  const { last_tick_id, last_tick_status } = schedule.state
  const failed_tick =
    last_tick_id === null || last_tick_status !== 'FAILED' ? undefined : await view.row('schedule_ticks', [schedule_id, last_tick_id])
  const schedule_count = await countSchedules(view)
  return reportOf(schedule, { now: submit.appender.now(), sequence, schedule_count }, { failed_tick, refused, answers })
}

/** Nobody waits for the answer to a signal, so what the fold says of it is a sentence on the loop's page. */
async function refusalsOf(view: View | undefined, statuses: readonly SaidStatus[]): Promise<readonly string[]> {
  if (view === undefined) return []
  const outcomes = await Promise.all(statuses.map(({ asked }) => outcomeIn(view, asked)))
  return outcomes.flatMap((outcome, i) => {
    const kind = statuses[i]?.kind
    return kind !== undefined && (outcome.kind === 'refused' || outcome.kind === 'quarantined') ? [refusalText(kind, outcome.reason)] : []
  })
}

function refusalText(kind: SaidStatus['kind'], reason: string): string {
  return `The ${kind} was not taken. ${whyRefused(kind, reason)}`
}

function whyRefused(kind: SaidStatus['kind'], reason: string): string {
  switch (reason) {
    case 'ILLEGAL_TRANSITION':
      return `The schedule was ${kind === 'pause' ? 'paused' : 'active'} already.`
    case 'TERMINAL':
      return 'The schedule was removed, and stays removed: make another one, which may have its name.'
    case 'CAP_REACHED':
      return 'Too many changes of the schedule waited to be counted. Ask again.'
    default:
      return `It was refused as ${reason}: look at the schedule, and ask again.`
  }
}

/** Of triggers that have an outcome: their tick and its runs, or why there is none. */
async function answersOf(
  view: View | undefined,
  schedule_id: string,
  request_ids: readonly string[],
): Promise<Record<string, TriggerAnswer>> {
  const answers: Record<string, TriggerAnswer> = {}
  for (const request_id of request_ids) {
    const tick_id = manualTickId(schedule_id, request_id)
    const tick = await view?.row('schedule_ticks', [schedule_id, tick_id])
    const runs = tick === undefined ? [] : ((await readRunsOfTicks(view, [tick])).get(tick_id) ?? [])
    answers[request_id] =
      tick === undefined
        ? {
            problem: `The trigger ${request_id} was refused: the schedule changed in the same moment. Trigger it again, with another request_id.`,
          }
        : { tick_id, run_ids: runs.map(({ run_id }) => run_id) }
  }
  return answers
}

const countSchedules = (view: View): Promise<number> =>
  view.derived('schedule count', ['schedule_definitions'], async () => (await view.few('schedule_definitions', [])).length)
