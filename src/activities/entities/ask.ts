// Asks for a turn and waits for its publish. Callers that stand on the same revision share one request (single-flight): a thousand
// loops that are due in one second cost one poke, one turn and one series of reads of the pointer.

import type { Poke } from '../../commands/submit.js'
import type { Current } from '../../readers/current.js'
import type { View } from '../../readers/reader.js'

type AskDeps = {
  readonly current: Current
  readonly poke: Poke
  /** Ends every wait. */
  readonly stopping: AbortSignal
}

/** The first revision after this one; undefined: none came in time. */
export type Ask = (sequence: number, timeout_ms: number) => Promise<View | undefined>

export function createAsk({ current, poke, stopping }: AskDeps): Ask {
  const requests = new Map<number, Promise<View | undefined>>()
  return (sequence, timeout_ms) => {
    const known = requests.get(sequence)
    if (known !== undefined) return known
    poke('now')
    const answer = current.atLeast(sequence + 1, timeout_ms, stopping).finally(() => requests.delete(sequence))
    requests.set(sequence, answer)
    return answer
  }
}
