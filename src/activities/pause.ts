// A pause that grows, for a way over which nothing gets through: what comes meanwhile hears what was heard last, and nobody
// is asked. After it one asks, the others wait for what he hears, and the first who gets through ends it. It is never drawn
// at random: there is one of it for each process and way, so nothing comes in step that jitter would part.

import { PAUSE_FIRST_MS, PAUSE_LONGEST_MS } from '../core/limits.js'
import type { Clock } from '../core/time.js'

/** `stuck`: whatever is wrong is everybody's. `nothing`: it says nothing of the way. */
export type Heard<Answer> = { readonly way: 'through' | 'stuck' | 'nothing'; readonly answer: Answer }

export type Pause<Answer> = {
  /** `work` asks, where somebody may; else the answer that stands. */
  readonly ask: (work: () => Promise<Heard<Answer>>) => Promise<Answer>
}

type Standing<Answer> = {
  readonly answer: Answer
  readonly until: number
  readonly length_ms: number
  /** Settled when whoever asks after the pause has heard. */
  probe?: Promise<void> | undefined
}

export function createPause<Answer>({ elapsed }: Pick<Clock, 'elapsed'>): Pause<Answer> {
  let standing: Standing<Answer> | undefined
  const isPaused = () => standing !== undefined && elapsed() < standing.until

  /** What was wrong long ago, and was asked for by nobody since, says little of now. */
  const isRecent = (known: Standing<Answer> | undefined): known is Standing<Answer> =>
    known !== undefined && elapsed() - known.until <= PAUSE_LONGEST_MS

  async function heard(work: () => Promise<Heard<Answer>>): Promise<Answer> {
    const { way, answer } = await work()
    if (way === 'through') standing = undefined
    // Several may have been on their way when it began: together they are one reason to wait.
    if (way === 'stuck' && !isPaused()) {
      const length_ms = isRecent(standing) ? Math.min(standing.length_ms * 2, PAUSE_LONGEST_MS) : PAUSE_FIRST_MS
      standing = { answer, until: elapsed() + length_ms, length_ms }
    }
    return answer
  }

  async function probed(known: Standing<Answer>, work: () => Promise<Heard<Answer>>): Promise<Answer> {
    const asking = heard(work)
    known.probe = asking.then(nothing, nothing)
    try {
      return await asking
    } finally {
      known.probe = undefined
    }
  }

  return {
    async ask(work) {
      const known = standing
      if (known === undefined) return heard(work)
      if (isPaused()) return known.answer
      if (known.probe === undefined) return probed(known, work)
      await known.probe
      return standing !== undefined && isPaused() ? standing.answer : heard(work)
    },
  }
}

const nothing = (): void => undefined
