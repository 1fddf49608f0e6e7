// The loop of an entity (a schedule; sensors and backfills come next): it takes commands by signals and updates, has each appended
// by its activity, shows how the entity stands, and waits until the activity wants it to look again. It decides nothing and
// knows no cron. Nothing kills it; an entity that is not found is waited for. A kind declares what is its own.

import { ApplicationFailure } from '@temporalio/common'
import * as wf from '@temporalio/workflow'
import { commandFault, readMembers } from './command-fault.js'
import { createCommandNumbers } from './command-numbers.js'
import {
  type CommandAnswer,
  type EntityCommand,
  type EntityLoopInput,
  type EntityReport,
  entityStateQuery,
  pokeSignal,
} from './contract.js'
import { listenForUnknown, setNextFire } from './loop.js'
import { type LoopHealth, openLoop } from './run-loop.js'
import { entityDetails, entityTimer, errorText, lookSummary } from './words.js'

export type CommandDeclaration = {
  /** The Temporal UI shows it beside the signal and the update. */
  readonly description: string
  /** What it may be sent with beside request_id, requested_by and reason, each with an example. */
  readonly members?: Readonly<Record<string, string>>
  /** Without its answer it would be of no use, so it has no signal. */
  readonly is_update_only?: true
}

export type EntityLoop<Command extends EntityCommand, Report extends EntityReport> = {
  readonly commands: Readonly<Record<Command['kind'], CommandDeclaration>>
  /** Calls the kind's activity. */
  readonly look: (commands: readonly Command[], summary: string) => Promise<Report>
  /** With one of these the loop is over. */
  readonly last_statuses: readonly Report['status'][]
  /** The last line of the page: what an operator may get wrong. */
  readonly hint: string
}

/** Each look costs a place in the history. */
const WAIT_MS_MIN = 1_000
/** What one call appends; the rest goes with the next one. */
const COMMANDS_AT_ONCE = 50

const NO_ANSWER = 'It was sent, and what it came to is not known: look at the page.'

export async function runEntityLoop<Command extends EntityCommand, Report extends EntityReport, Input extends EntityLoopInput<Command>>(
  input: Input,
  { commands: declared, look: call, last_statuses, hint }: EntityLoop<Command, Report>,
): Promise<void> {
  const { turns_max, refused = null, last_command: carried_command = refused, ...kept } = input
  const commands: Command[] = [...input.commands]
  const answers = new Map<string, CommandAnswer>()
  /** Request ids of updates: a new run of the workflow would leave them without an answer. */
  const unanswered = new Set<string>()
  const numbers = createCommandNumbers(input.numbering)
  let status = 'STARTING'
  let last_command = carried_command
  let report: Report | undefined
  const loop = openLoop(input, () => report?.settings?.looks_max ?? turns_max)

  const showDetails = () =>
    wf.setCurrentDetails(entityDetails(status, report?.page ?? undefined, { last_command, last_error: loop.health().last_error, hint }))
  function show(now: string): void {
    status = now
    setNextFire(status, report?.next_fire_at ?? null, { slack_ms: report?.settings?.next_fire_slack_ms ?? 0, name: report?.name })
    showDetails()
  }

  /** Its members are what the declaration of its kind has. */
  const commandOf = (kind: string, request: unknown, default_id: () => string): Command => {
    const { request_id, ...members } = readMembers(declaredAs(kind).members ?? {}, request)
    const id = request_id === undefined || request_id === '' ? default_id() : request_id
    return { ...members, kind, request_id: id } as unknown as Command
  }
  const declaredAs = (kind: string): CommandDeclaration => declared[kind as Command['kind']]

  async function answerTo(kind: string, request: unknown): Promise<CommandAnswer> {
    const command = commandOf(kind, request, () => wf.currentUpdateInfo()?.id ?? numbers.next())
    const { request_id } = command
    answers.delete(request_id)
    unanswered.add(request_id)
    commands.push(command)
    loop.lookAtOnce()
    await wf.condition(() => answers.has(request_id))
    return answers.get(request_id) as CommandAnswer
  }

  function answer(request_id: string, said: CommandAnswer): void {
    answers.set(request_id, said)
    unanswered.delete(request_id)
  }

  function listen(): void {
    const kinds = Object.keys(declared)
    const signals = kinds.filter((kind) => declaredAs(kind).is_update_only !== true)
    for (const kind of kinds) {
      const { description, members = {} } = declaredAs(kind)
      wf.setHandler(wf.defineUpdate<CommandAnswer, [unknown?]>(kind), (request?: unknown) => answerTo(kind, request), {
        description,
        // Synchronous: a promise of a validator is not waited for, and would refuse nothing.
        validator: (request?: unknown) => refuseFaulty(commandFault(kind, members, request)),
      })
    }
    for (const kind of signals) {
      const take = (request?: unknown) => {
        commands.push(commandOf(kind, request, numbers.next))
        loop.wake()
      }
      wf.setHandler(wf.defineSignal<[unknown?]>(kind), take, { description: declaredAs(kind).description })
    }
    wf.setHandler(pokeSignal, loop.wake, { description: 'Looks at once. Servo sends it when the entity has changed.' })
    wf.setHandler(
      entityStateQuery,
      () => {
        const { next_fire_at = null, sequence = 0 } = report ?? {}
        return {
          turns: loop.turns(),
          ...loop.health(),
          sequence,
          status: loop.health().failures > 0 ? 'ERROR' : (report?.status ?? status),
          next_fire_at,
        }
      },
      { description: 'How the loop stands: its status, its looks, and why the last one failed.' },
    )
    // Last: what came for a handler that is not set yet would be unknown.
    listenForUnknown({ signals: [...signals, 'poke'], updates: kinds }, (problem) => {
      loop.countSignal()
      last_command = problem
      showDetails()
    })
  }

  async function look(): Promise<number | 'over'> {
    const batch = commands.splice(0, COMMANDS_AT_ONCE)
    try {
      report = await call(batch, lookSummary(loop.cause(), batch))
    } catch (error) {
      // A caller that waits gets the error; the rest goes with the next call, and is absorbed where it had been appended.
      const rest = batch.filter(({ request_id }) => !unanswered.has(request_id))
      for (const { request_id } of batch) if (unanswered.has(request_id)) answer(request_id, { problem: errorText(error) })
      commands.unshift(...rest)
      throw error
    }
    for (const [request_id, said] of Object.entries(report.answers)) answer(request_id, said)
    // An older activity answers triggers alone.
    for (const { request_id } of batch) if (unanswered.has(request_id)) answer(request_id, { problem: NO_ANSWER })
    numbers.noteAnswer(report.run_id)
    loop.clearHealth()
    if (batch.length > 0) last_command = report.last_command ?? report.refused ?? null
    show(report.status)
    if (last_statuses.includes(report.status) && commands.length === 0 && unanswered.size === 0) return 'over'
    return commands.length > 0 ? 0 : Math.max(WAIT_MS_MIN, report.wake_in_ms)
  }

  listen()
  if (input.failures === 0) showDetails()
  const end = await loop.run({
    look,
    onFailed: () => show('ERROR'),
    waitSummary: () => entityTimer(loop.health().failures > 0 ? undefined : report),
    mayBeginAnew: () => unanswered.size === 0,
  })
  if (end === 'over') return
  const health: LoopHealth = loop.health()
  const next = wf.makeContinueAsNewFunc<(next: EntityLoopInput<Command>) => Promise<void>>({ taskQueue: loop.taskQueue() })
  await next({ ...kept, commands, ...health, last_command, numbering: numbers.carried() })
}

function refuseFaulty(fault: string | undefined): void {
  if (fault !== undefined) throw ApplicationFailure.nonRetryable(fault, 'BadInput')
}
