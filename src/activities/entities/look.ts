// What the loop of an entity calls: it appends the commands that people sent, sees to it that what is due is decided, and answers
// how the entity stands. It decides nothing: the turn does, and where that has published already, it is not asked.

import { unavailable } from '../../core/errors.js'
import { ENTITY_CALL_WAIT_MS_MAX, ENTITY_LOOK_OFTEN_MS, ENTITY_LOOKS_A_RUN, ENTITY_WAITING_MS } from '../../core/loop-limits.js'
import { type Clock, instantText, MINUTE_MS } from '../../core/time.js'
import type { Current } from '../../readers/current.js'
import type { View } from '../../readers/reader.js'
import { type Asked, type Outcome, outcomeIn } from '../../readers/wait.js'
import type { CommandAnswer, EntityCommand, EntityReport } from '../../workflows/contract.js'
import { explained } from '../failures.js'
import { leaveOn, leaving } from '../leave.js'
import type { Ask } from './ask.js'
import type { AppendDeps, Appended, EntityKind } from './kind.js'
import { firesOften, nextFireSlackMs, wakeInMs } from './wake.js'

export type LookDeps = AppendDeps & {
  readonly clock: Clock
  readonly current: Current
  readonly ask: Ask
  /** Aborted when this process is about to end: a turn that is waited for would not come. */
  readonly stopping: AbortSignal
  /** The namespace has `ServoName`. */
  readonly has_names?: boolean
}

/** What a look rests on. */
type Basis<Entity> = { readonly view: View | undefined; readonly entity: Entity | undefined }
type Sent<Command> = { readonly command: Command; readonly appended: Appended }

/** Beside the timer of an entity that fires often: the next fire alone would be a riddle where it has passed. */
const OFTEN_TIMER = `looks every ${ENTITY_LOOK_OFTEN_MS / MINUTE_MS} min`
/** A page has no room for more. */
const LAST_COMMAND_CHARACTERS_MAX = 500

export function createEntityLook<Entity, Command extends EntityCommand>(deps: LookDeps, kind: EntityKind<Entity, Command>) {
  const { clock, current, ask, submit, stopping } = deps

  /** One after the other: a pause and a resume in one moment mean something else the other way round. */
  async function appendAll(entity_id: string, commands: readonly Command[]): Promise<readonly Sent<Command>[]> {
    const sent: Sent<Command>[] = []
    for (const command of commands) {
      const view = await current.latest()
      sent.push({ command, appended: await kind.append(deps, view, entity_id, command) })
    }
    return sent
  }

  /** A revision in which everything that was appended has its outcome, and nothing that is due waits for a decision. */
  async function untilDecided(entity_id: string, appended: readonly Asked[]): Promise<Basis<Entity>> {
    const began = clock.elapsed()
    let view = await current.latest()
    let pending = appended
    for (;;) {
      const entity = await kind.find(view, entity_id)
      pending = await stillPending(view, pending)
      const due_at = entity === undefined ? undefined : kind.dueAt(entity)[0]
      const isDue = due_at !== undefined && due_at <= submit.appender.now()
      if (!isDue && pending.length === 0) return { view, entity }
      const left_ms = ENTITY_CALL_WAIT_MS_MAX - (clock.elapsed() - began)
      if (stopping.aborted) throw leaving()
      if (left_ms <= 0) throw unavailable(noTurnText(isDue ? due_at : undefined))
      view = (await ask(view?.sequence ?? 0, left_ms)) ?? view
    }
  }

  async function answerTo(view: View | undefined, entity_id: string, { command, appended }: Sent<Command>): Promise<CommandAnswer> {
    if ('problem' in appended || view === undefined) return 'problem' in appended ? appended : { problem: 'No turn has come yet.' }
    const outcome: Outcome | undefined = appended.pending === undefined ? undefined : await outcomeIn(view, appended.pending)
    return kind.answer(view, entity_id, command, outcome)
  }

  async function reportOf(entity_id: string, { view, entity }: Basis<Entity>): Promise<Omit<EntityReport, 'answers'>> {
    const sequence = view?.sequence ?? 0
    const settings = { looks_max: ENTITY_LOOKS_A_RUN, next_fire_slack_ms: 0 }
    if (view === undefined || entity === undefined) {
      const timer = `waits for a ${kind.kind} that is not known`
      return { sequence, status: 'WAITING', wake_in_ms: ENTITY_WAITING_MS, next_fire_at: null, page: null, timer, settings }
    }
    const due = kind.dueAt(entity)
    const [first] = due
    const { name, has_fired } = kind.describe(entity)
    const now = submit.appender.now()
    const standing = await kind.report(entity, view, now)
    return {
      sequence,
      wake_in_ms: wakeInMs(entity_id, due, { now, count: await kind.count(view), has_fired }),
      next_fire_at: first === undefined ? null : instantText(first),
      ...standing,
      timer: has_fired && firesOften(due) ? `${OFTEN_TIMER}: ${standing.timer}` : standing.timer,
      ...(deps.has_names === true ? { name } : {}),
      settings: { ...settings, next_fire_slack_ms: nextFireSlackMs(due) },
    }
  }

  return (entity_id: string, commands: readonly Command[]): Promise<EntityReport> =>
    explained(() =>
      // What is appended by then is absorbed when the call is made again.
      leaveOn(stopping, async () => {
        const sent = await appendAll(entity_id, commands)
        const pending = sent.flatMap(({ appended }) => ('pending' in appended && appended.pending !== undefined ? [appended.pending] : []))
        const basis = await untilDecided(entity_id, pending)
        const answers = await Promise.all(sent.map(async (each) => [each.command, await answerTo(basis.view, entity_id, each)] as const))
        return {
          ...(await reportOf(entity_id, basis)),
          answers: Object.fromEntries(answers.map(([command, answer]) => [command.request_id, worded(command, answer)])),
          ...(answers.length === 0 ? {} : { last_command: lastCommandText(answers) }),
        }
      }),
    )
}

const worded = ({ kind }: EntityCommand, answer: CommandAnswer): CommandAnswer =>
  'problem' in answer ? { problem: `The ${kind} was not carried out. ${answer.problem}` } : answer

/** The sender of a signal gets no answer, so the page has it: those that were refused, or the last one. */
function lastCommandText(answers: readonly (readonly [EntityCommand, CommandAnswer])[]): string {
  const lines = answers.map(([{ kind, requested_by }, answer]) => {
    const command = requested_by === undefined ? kind : `${kind} by ${requested_by}`
    return 'problem' in answer ? `${command}, refused: ${answer.problem}` : `${command}, done`
  })
  const refused = lines.filter((_, index) => 'problem' in (answers[index]?.[1] ?? {}))
  return (refused.length === 0 ? lines.slice(-1) : refused).join(' ').slice(0, LAST_COMMAND_CHARACTERS_MAX)
}

const noTurnText = (due_at: number | undefined): string =>
  `No turn of the workspace has ${due_at === undefined ? 'folded what was appended here' : `decided what was due at ${instantText(due_at)}`} within ` +
  `${ENTITY_CALL_WAIT_MS_MAX / 1_000} s. Nothing is lost; the page of the workspace's own loop says what keeps it.`

async function stillPending(view: View | undefined, pending: readonly Asked[]): Promise<readonly Asked[]> {
  if (view === undefined || pending.length === 0) return pending
  const outcomes = await Promise.all(pending.map((each) => outcomeIn(view, each)))
  return pending.filter((_, i) => outcomes[i]?.kind === 'pending')
}
