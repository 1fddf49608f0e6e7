// Asks for a turn and waits for its publish. Whoever stands on the same revision shares one ask: a thousand loops that are
// due in one second cost one poke, one turn and one row of looks at the pointer.

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
  const asked = new Map<number, Promise<View | undefined>>()
  return (sequence, timeout_ms) => {
    const known = asked.get(sequence)
    if (known !== undefined) return known
    poke('now')
    const answer = current.atLeast(sequence + 1, timeout_ms, stopping).finally(() => asked.delete(sequence))
    asked.set(sequence, answer)
    return answer
  }
}
