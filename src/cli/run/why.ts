// `servo run why`: why a task is not running.

import type { Command } from 'commander'
import type { TaskWhy } from '../answers.js'
import { type ApiOptions, type Around, type Session, sessionOf, withApi, withExample } from '../api-command.js'
import { printJson, printLine } from '../local/print.js'
import { momentText } from '../moments.js'
import { findRunId, RUN_WORDS, taskPath } from './find.js'

export function addWhyCommand(group: Command, around: Around): void {
  const command = withApi(group.command('why'))
    .description('why a task of a run is not running')
    .argument('<run>', RUN_WORDS)
    .argument('<task>', "the task's key, as `servo run tasks` has it")
    .action(async (run: string, task_key: string, options: ApiOptions) => {
      const session = sessionOf(options, around)
      const run_id = await findRunId(session, run)
      const why = await readWhy(session, run_id, task_key)
      if (session.json) printJson(why)
      else printLine(inLocalTime(why.sentence, Date.now()))
    })
  withExample(command, 'servo run why last shop.report')
}

export const readWhy = (session: Pick<Session, 'client'>, run_id: string, task_key: string): Promise<TaskWhy> =>
  session.client.get<TaskWhy>(`${taskPath(run_id, task_key)}/why`, { fresh: true })

const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g

/** Instants are RFC 3339 in what the API says. */
export const inLocalTime = (sentence: string, now: number): string => sentence.replace(INSTANT, (instant) => momentText(instant, now))
