// The revision that a command looks at: the newest, or an older one by `--as-of`.

import { type Command, InvalidArgumentError } from 'commander'
import { type Deps, openReader } from '../../bin/deps.js'
import { missing } from '../../core/errors.js'
import { isUlid } from '../../core/ids.js'
import { readInstant } from '../../core/instant-text.js'
import { type Moment, openAsOf } from '../../readers/as-of.js'
import type { View } from '../../readers/reader.js'
import type { StoreOptions } from './options.js'
import { note } from './print.js'

export type AsOfOptions = StoreOptions & { readonly asOf?: Moment }

export const withAsOf = (command: Command): Command =>
  command.option(
    '--as-of <moment>',
    'a revision (its number or id; 2025 is a number), or the newest kept at an instant such as 2025-01-15T10:00:00Z',
    parseMoment,
  )

function parseMoment(text: string): Moment {
  if (/^[0-9]{1,15}$/.test(text)) return { sequence: Number(text) }
  if (isUlid(text)) return { revision: text }
  const read = readInstant(text)
  if ('problem' in read) throw new InvalidArgumentError(`${read.problem} A revision is given by its number or its id.`)
  return { at: read.at_ms }
}

export async function openView(deps: Deps, { asOf }: AsOfOptions): Promise<View> {
  const reader = openReader(deps)
  const view = asOf === undefined ? await reader.latest() : reader.viewOf(await openAsOf(deps, asOf))
  if (view === undefined) throw missing(`${deps.store.label} has no revision yet: run \`servo ledger compact\` first.`)
  return view
}

/** Rows for programs do not say it, and an instant is answered with what was kept of the time before it. */
export function noteMoment(view: View, { asOf }: AsOfOptions): void {
  if (asOf !== undefined) note(`The rows are those ${placeOf(view)}.`)
}

/** At which revision something was read. */
export const placeOf = ({ sequence, snapshot }: View): string => `at revision ${sequence}, published at ${snapshot.revision.published_at}`
