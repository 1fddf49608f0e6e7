// Waits for what becomes of a command that the API has accepted. Accepted is durable: however long it takes, and whatever
// is away meanwhile, it is carried out, so that no command says that it failed because it stopped waiting.

import type { Outcome } from './answers.js'
import type { Session } from './api-command.js'
import { NotYetError } from './exit-code.js'
import { PENDING_HINT } from './outcome.js'
import { createPatience, untilInterrupted } from './watching.js'

/** The API waits so long for each answer: a minute in all, with the 10 s of the request itself. A busy turn takes less. */
const WAIT_MS = 10_000
const QUESTIONS_MAX = 5

type CommandAnswer = { readonly accepted_event_id?: string | null | undefined; readonly outcome?: Outcome | undefined }

/** The same answer with the outcome that there is by now. One without an outcome was not asked to wait. */
export async function settled<Answer extends CommandAnswer>(session: Pick<Session, 'client'>, answer: Answer): Promise<Answer> {
  const { accepted_event_id } = answer
  if (answer.outcome?.kind !== 'pending' || accepted_event_id == null) return answer
  const outcome = await untilInterrupted(async (until) => {
    const patience = createPatience({ hasAnswered: true })
    for (let asked = 0; asked < QUESTIONS_MAX && !until.signal.aborted; ) {
      const question = patience.tried(() => outcomeOf(session, accepted_event_id, WAIT_MS))
      const found = await Promise.race([question, until.aborted])
      if (found === undefined) await until.sleep(LOOK_AGAIN_MS)
      else if (found.kind !== 'pending') return found
      else asked += 1
    }
    return undefined
  })
  return outcome === undefined ? answer : { ...answer, outcome }
}

const LOOK_AGAIN_MS = 500

export async function outcomeOf({ client }: Pick<Session, 'client'>, event_id: string, wait_ms: number): Promise<Outcome> {
  return (await client.get<{ readonly outcome: Outcome }>('/outcomes', { event_id, wait_ms })).outcome
}

/** After what was accepted has been printed: exit code 4 says that nothing more is known. */
export function assertCarriedOut({ outcome }: CommandAnswer): void {
  if (outcome?.kind === 'pending') throw new NotYetError(PENDING_HINT)
}
