// Commands that the API accepts and a turn carries out: what they have in common, and what is printed of their answers.

import { randomUUID } from 'node:crypto'
import type { Outcome } from './answers.js'
import type { ApiOptions, Session } from './api-command.js'
import type { CommandedOptions } from './commanded.js'
import { note, printJson, printLine } from './local/print.js'
import { assertTaken } from './outcome.js'
import { assertCarriedOut, settled } from './settled.js'

export type CommandOptions = ApiOptions & CommandedOptions & { readonly wait?: boolean }

/** A key for each: a request that the connection repeats is no second command. */
export const requestOptions = ({ wait }: CommandOptions) => ({ query: wait === true ? { wait: true } : {}, idempotency_key: randomUUID() })

type Accepted = {
  readonly accepted_event_id?: string | null | undefined
  readonly warnings?: readonly string[] | undefined
  readonly outcome?: Outcome | undefined
}

type AcceptedWords = {
  /** What a refusal is about, such as "The cap of global". */
  readonly subject: string
  /** A sentence without its end, such as "nightly is paused". */
  readonly done: string
  /** Once it is applied, where that is another sentence. */
  readonly applied?: string
  /** Where nothing was to be changed. */
  readonly unchanged?: string
}

/** Prints what became of the command, and answers with it. */
export async function printAccepted<Answer extends Accepted>(
  answer: Answer,
  session: Pick<Session, 'client' | 'json'>,
  { subject, done, applied = done, unchanged = done }: AcceptedWords,
): Promise<Answer> {
  for (const warning of answer.warnings ?? []) note(`Note: ${warning}`)
  const accepted = await settled(session, answer)
  const { outcome, accepted_event_id } = accepted
  assertTaken(outcome, subject)
  if (session.json) printJson(accepted)
  else if (accepted_event_id === null) printLine(`Nothing changes: ${unchanged}.`)
  else printLine(outcome?.kind === 'applied' ? `${applied}.` : `${done}, from the next turn on.`)
  assertCarriedOut(accepted)
  return accepted
}
