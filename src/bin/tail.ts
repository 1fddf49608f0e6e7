// What fresh reads are answered from between two publishes. All of the fold stands behind it, and no first answer needs that:
// it is loaded for the first fresh read.

import type { Appender } from '../ledger/append.js'
import { RETENTION } from '../projections/retention.js'
import type { Tail } from '../readers/fresh.js'
import type { Reader } from '../readers/reader.js'
import type { Deps } from './deps.js'
import { onDemand } from './on-demand.js'

export function openTail(deps: Deps, reader: Reader, { now }: Pick<Appender, 'now'>, log: (message: string) => void): Tail {
  const tail = onDemand(async () => {
    const { createFreshTail } = await import('../turn/fresh-tail.js')
    return createFreshTail({ ...deps, reader, now, retention: RETENTION, log })
  })
  return { read: async () => (await tail.get()).read() }
}
