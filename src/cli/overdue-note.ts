// Says beside a list, or while a command waits, what the API knows and the command does not show: that no automation takes the turns which are overdue.

import type { Session } from './api-command.js'
import { note } from './local/print.js'

/** A proxy may answer in the API's place, with anything. */
type Readiness = { readonly checks?: readonly { readonly name: string; readonly ok: boolean; readonly detail?: string }[] }

export async function noteOverdueTurn({ client }: Pick<Session, 'client'>): Promise<boolean> {
  // A list that was answered is shown whether or not this one is.
  const readiness = await client.probe<Readiness>('/readyz').catch(() => undefined)
  const automation = readiness?.checks?.find(({ name, ok }) => name === 'automation' && !ok)
  if (automation?.detail === undefined) return false
  note(`No automation is at work. ${automation.detail}`)
  return true
}

const ASK_AGAIN_MS = 5_000

/** For a command that waits and looks again and again: asks every few seconds, and says it once. */
export function createOverdueNote(session: Pick<Session, 'client'>, elapsed: () => number): () => Promise<void> {
  let isNoted = false
  let asked_at = Number.NEGATIVE_INFINITY
  return async () => {
    if (isNoted || elapsed() - asked_at < ASK_AGAIN_MS) return
    asked_at = elapsed()
    isNoted = await noteOverdueTurn(session)
  }
}
