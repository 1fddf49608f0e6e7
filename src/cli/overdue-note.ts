// Says beside a list what the API knows and the list does not show: that no automation takes the turns which are overdue.

import type { Session } from './api-command.js'
import { note } from './local/print.js'

/** A proxy may answer in the API's place, with anything. */
type Readiness = { readonly checks?: readonly { readonly name: string; readonly ok: boolean; readonly detail?: string }[] }

export async function noteOverdueTurn({ client }: Pick<Session, 'client'>): Promise<void> {
  // A list that was answered is shown whether or not this one is.
  const readiness = await client.probe<Readiness>('/readyz').catch(() => undefined)
  const automation = readiness?.checks?.find(({ name, ok }) => name === 'automation' && !ok)
  if (automation?.detail !== undefined) note(`No automation is at work. ${automation.detail}`)
}
