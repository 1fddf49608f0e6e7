// `servo run attempts`: every attempt of a run or a task, and why it ended where it did not succeed.

import type { Command } from 'commander'
import type { Attempt } from '../answers.js'
import { type ApiOptions, type Around, listed, type Session, sessionOf, withApi, withExample } from '../api-command.js'
import { note, printJson, printTable } from '../local/print.js'
import { localText, tookText } from '../moments.js'
import { paintedState } from '../screen.js'
import { findRunId, RUN_WORDS, runPath } from './find.js'
import { shortLine } from './progress.js'

export function addAttemptsCommand(group: Command, around: Around): void {
  const command = withApi(group.command('attempts'))
    .description('the attempts of a run or of a task of it: how each ended, and the error of those that did not succeed')
    .argument('<run>', RUN_WORDS)
    .argument('[task]', 'the key of a task, as `servo run tasks` shows it')
    .action((run: string, task_key: string | undefined, options: ApiOptions) => attempts(run, task_key, sessionOf(options, around)))
  withExample(command, 'servo run attempts last', 'servo run attempts last shop.report')
}

async function attempts(text: string, task_key: string | undefined, session: Session): Promise<void> {
  const run_id = await findRunId(session, text)
  const query = { task_key, fresh: true }
  const { rows } = await listed<'attempts', Attempt>(session, { path: `${runPath(run_id)}/attempts`, member: 'attempts', query })
  if (session.json) return printJson(rows)
  if (rows.length === 0) return note('There is no attempt yet: `servo run why` says what a task waits for.')
  const now = Date.now()
  printTable(
    ['task', 'attempt', 'state', 'started', 'took', 'worker', 'what it says'],
    rows.map((row) => [
      row.task_key,
      String(row.attempt),
      paintedState(session.screen, row.state),
      row.started_at === null ? '' : localText(Date.parse(row.started_at)),
      tookText(row.started_at, row.finished_at, now),
      row.worker_id ?? '',
      shortLine(endText(row)),
    ]),
  )
  const first = rows.find(({ error }) => error?.stack !== undefined)
  if (first !== undefined) note(`Its stack: servo run logs ${run_id} '${first.task_key}' --attempt ${first.attempt}`)
}

/** `HEARTBEAT`, or `BOOM: It broke.`, or both. */
export const endText = ({ reason, error }: Pick<Attempt, 'reason' | 'error'>): string =>
  [reason, error === null ? null : `${error.code}: ${error.message}`].filter((part) => part !== null).join(', ')
