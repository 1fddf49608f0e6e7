// `servo run cancel`: some runs by their ids, or all open ones that fit.

import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { RUN_STATES } from '../../api/contract/run.js'
import type { CancelAccepted, CancelManyAccepted, Run } from '../answers.js'
import { type ApiOptions, type Around, listed, type Session, sessionOf, withApi, withExample } from '../api-command.js'
import { type CommandedOptions, commandedBy, withCommanded } from '../commanded.js'
import { FailedError, UsageError } from '../exit-code.js'
import { counted, note, printJson, printLine } from '../local/print.js'
import { assertTaken, PENDING_HINT } from '../outcome.js'
import { type FilterOptions, filterOf, type RunFilter, withFilter } from './filter.js'
import { findRunId, RUN_WORDS, runPath } from './find.js'
import { isOver } from './progress.js'
import { untilOver } from './until-over.js'

type Options = ApiOptions & CommandedOptions & FilterOptions & { readonly yes?: boolean; readonly wait?: boolean }

/** One that is being cancelled needs no second request. */
const CANCELLABLE = RUN_STATES.filter((state) => !isOver(state) && state !== 'CANCELLING')

export function addCancelCommand(group: Command, around: Around): void {
  const command = withFilter(withCommanded(withApi(group.command('cancel'))), CANCELLABLE)
    .description('ask for runs to be cancelled: those that you name, or all open ones that fit')
    .argument('[run...]', RUN_WORDS)
    .option('--yes', 'cancel what the filter finds; without it they are only shown')
    .option('--wait', 'wait until all of them are over')
    .action((runs: readonly string[], options: Options) => cancel(runs, options, around))
  withExample(command, 'servo run cancel last', 'servo run cancel --state PENDING --tag why=backfill --yes --wait')
}

async function cancel(runs: readonly string[], options: Options, around: Around): Promise<void> {
  const session = sessionOf(options, around)
  const filter = filterOf(options)
  if (runs.length > 0 && filter !== undefined)
    throw new UsageError('Name runs, or give options such as --state, --schedule or --tag; not both.')
  const body = commandedBy(options, around)
  const waits = options.wait === true
  if (runs.length > 0) return cancelNamed(runs, body, waits, session)
  if (filter === undefined) throw new UsageError(`Say which runs: ${RUN_WORDS}; or give options such as --state, --schedule or --tag.`)
  return options.yes === true ? cancelFitting(filter, body, waits, session) : showFitting(filter, session)
}

async function cancelNamed(texts: readonly string[], body: object, waits: boolean, session: Session): Promise<void> {
  // All are looked up before the first is cancelled: a wrong word cancels nothing.
  const run_ids: string[] = []
  for (const text of texts) run_ids.push(await findRunId(session, text))
  const answers: CancelAccepted[] = []
  try {
    for (const run_id of new Set(run_ids)) {
      const options = { query: { wait: true }, idempotency_key: randomUUID() }
      const accepted = await session.client.post<CancelAccepted>(`${runPath(run_id)}/cancel`, body, options)
      assertTaken(accepted.outcome, `The cancel of ${run_id}`)
      answers.push(accepted)
      if (!session.json) printLine(`Asked run ${run_id} to end. Code that runs is told to stop.`)
    }
  } catch (error) {
    // Those before it are accepted, whatever came of this one.
    if (session.json && answers.length > 0) printJson(answers)
    throw error
  }
  if (!session.json && answers.some(({ outcome }) => outcome?.kind === 'pending')) note(PENDING_HINT)
  const states = waits ? await untilOver(session, [...new Set(run_ids)]) : undefined
  if (session.json)
    printJson(answers.map((answer) => ({ ...answer, ...(states === undefined ? {} : { state: states.get(answer.run_id) }) })))
}

async function cancelFitting(filter: RunFilter, body: object, waits: boolean, session: Session): Promise<void> {
  const asked: CancelRequests = { run_ids: [], isPending: false, more: true }
  try {
    await requestCancels(asked, filter, body, session)
  } catch (error) {
    // What was asked for before it is accepted, whatever came of the rest.
    if (asked.run_ids.length > 0) reportCancels(asked, session, {})
    throw error
  }
  const { run_ids, more } = asked
  if (!session.json && run_ids.length === 0) return note('No open run fits.')
  if (!session.json) reportCancels(asked, session, {})
  // While nobody carries the cancels out there is nothing to wait for, and the rest is asked by another command.
  const states = waits && !more ? await untilOver(session, run_ids) : undefined
  if (session.json) reportCancels(asked, session, states === undefined ? {} : { states: Object.fromEntries(states) })
  if (more) throw new FailedError(MORE_FIT)
}

type CancelRequests = { readonly run_ids: string[]; isPending: boolean; more: boolean }

async function requestCancels(asked: CancelRequests, filter: RunFilter, body: object, session: Session): Promise<void> {
  for (let found = 1; asked.more && found > 0; ) {
    const options = { query: { wait: true }, idempotency_key: randomUUID() }
    const answer = await session.client.post<CancelManyAccepted>('/runs/cancel', { filter, ...body }, options)
    asked.isPending ||= answer.outcome?.kind === 'pending'
    const fresh = answer.run_ids.filter((run_id) => !asked.run_ids.includes(run_id))
    asked.run_ids.push(...fresh)
    asked.more = answer.more
    // None but the same ones again: their cancels are not folded yet, and asking once more brings nothing.
    found = fresh.length
  }
}

function reportCancels({ run_ids, isPending, more }: CancelRequests, session: Session, told: object): void {
  if (session.json) return printJson({ run_ids, matched_count: run_ids.length, ...(more ? { more } : {}), ...told })
  for (const run_id of run_ids) printLine(run_id)
  note(`Asked ${counted(run_ids.length, 'run')} to end.`)
  if (isPending) note(PENDING_HINT)
}

const MORE_FIT =
  'More open runs fit, and were not asked to end: they come up when the cancels of these are carried out. Say the same command again when the automation runs; `servo doctor` looks.'

async function showFitting({ state, ...filter }: RunFilter, session: Session): Promise<void> {
  const states = state === undefined ? CANCELLABLE : [state]
  const found: Run[] = []
  for (const each of states) {
    const query = { ...filter, state: each, fresh: true }
    found.push(...(await listed<'runs', Run>(session, { path: '/runs', member: 'runs', query })).rows)
  }
  if (session.json) printJson({ run_ids: found.map(({ run_id }) => run_id), matched_count: found.length })
  else for (const run of found) printLine(`${run.run_id} ${run.state}`)
  if (found.length === 0) return note('No open run fits.')
  throw new UsageError(
    `Nothing was cancelled: ${counted(found.length, 'run')} would be. Add --yes to cancel ${found.length === 1 ? 'it' : 'them'}.`,
  )
}
