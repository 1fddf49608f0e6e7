// What a command on a schedule answers, for people and for programs.

import { randomUUID } from 'node:crypto'
import type { Outcome, ScheduleAccepted } from '../answers.js'
import type { ApiOptions, Session } from '../api-command.js'
import type { CommandedOptions } from '../commanded.js'
import { note, printJson, printLine } from '../local/print.js'
import { assertTaken } from '../outcome.js'
import { assertCarriedOut, settled } from '../settled.js'

export type CommandOptions = ApiOptions & CommandedOptions & { readonly wait?: boolean }

/** A key for each: a repeat of the connection is no second command. */
export const sent = ({ wait }: CommandOptions) => ({ query: wait === true ? { wait: true } : {}, idempotency_key: randomUUID() })

type Accepted = {
  readonly schedule_name: string
  readonly accepted_event_id: string | null
  readonly outcome?: Outcome | undefined
}

/** Prints what became of the command, and answers with it. `done`: the sentence without its end, such as "nightly is paused". */
export async function told<Answer extends Accepted>(
  answer: Answer,
  session: Pick<Session, 'client' | 'json'>,
  done: string,
): Promise<Answer> {
  const accepted = await settled(session, answer)
  const { outcome, schedule_name, accepted_event_id } = accepted
  assertTaken(outcome, `What was asked of the schedule ${schedule_name}`)
  if (session.json) printJson(accepted)
  else if (accepted_event_id === null) printLine(`Nothing changes: ${schedule_name} is so already.`)
  else printLine(outcome?.kind === 'applied' ? `${done}.` : `${done}, from the next turn on.`)
  assertCarriedOut(accepted)
  return accepted
}

export function toldWarnings({ warnings = [] }: ScheduleAccepted): void {
  for (const warning of warnings) note(`Note: ${warning}`)
}
