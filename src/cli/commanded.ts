// Who asks for a change, and why: what every command has that changes something. The name is told and not proved: it is for
// whoever reads the history, and opens nothing.

import { userInfo } from 'node:os'
import type { Command } from 'commander'
import type { Around } from './api-command.js'

export type CommandedOptions = { readonly by?: string; readonly reason?: string }

export const BY_VARIABLE = 'SERVO_BY'

export const withCommanded = (command: Command, why = 'why, for whoever reads the history'): Command =>
  command.option('--by <name>', `who asks for it; else ${BY_VARIABLE}, else your login name`).option('--reason <text>', why)

/** `document`: what a file says that the command was given. Options go before it, and what is around goes after it. */
export function commandedBy(
  { by, reason }: CommandedOptions,
  { environment, loginName }: Pick<Around, 'environment' | 'loginName'>,
  document: Readonly<Record<string, unknown>> = {},
): { readonly requested_by?: string; readonly reason?: string } {
  // What a document says is judged by the API, of whatever type it is.
  const requested_by = by ?? (document['requested_by'] as string | undefined) ?? (environment[BY_VARIABLE] || loginName())
  return { ...(requested_by === undefined ? {} : { requested_by }), ...(reason === undefined ? {} : { reason }) }
}

/** Behind an instant: ` by ana: the warehouse is full`. */
export const byText = (requested_by: string | null, reason: string | null): string =>
  `${requested_by === null ? '' : ` by ${requested_by}`}${reason === null ? '' : `: ${reason}`}`

/** undefined: the system knows no name of the user, as in a container that runs under any number. */
export function loginNameOf(read: () => { readonly username: string } = userInfo): string | undefined {
  try {
    return read().username || undefined
  } catch {
    return undefined
  }
}
