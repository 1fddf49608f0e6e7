// What goes wrong between processes and inside workers, besides the store: a part of all troubles for each seed, each at a
// rate of its own. When the weather is calm nothing goes wrong any more.

import { SECOND_MS } from '../../../src/core/time.js'
import type { Random } from '../../fixtures/random.js'
import { exponential } from '../actor.js'

export const TROUBLES = [
  /** A request between two processes reaches nobody. */
  'request_lost',
  /** It was done, and nobody hears of it. */
  'answer_lost',
  /** It comes a second time, as from a proxy that tried again. */
  'request_doubled',
  'poke_lost',
  /** A queue forgets an attempt, has it twice, or keeps it for a minute or two. */
  'delivery_lost',
  'delivery_doubled',
  'delivery_late',
  /** An automation or an API ends between two of its steps. */
  'process_ends',
  'worker_crashes',
  /** It stops for minutes, and goes on as if nothing had been. */
  'worker_stalls',
  'worker_is_full',
  'worker_refuses',
  'worker_releases',
  /** Of an attempt that it has already it takes a second delivery for a new one. */
  'worker_forgets',
  /** It has no path to be told at which attempts are to stop. */
  'cancel_unknown',
  'cancel_late',
  /** Nobody reaches any API for a while, or again and again. */
  'api_away',
  /** One automation alone does not. */
  'api_unreached',
  'answers_twice',
  'answers_late',
  /** A worker does not hear that it may start, and asks again later; meanwhile somebody wants the run to be cancelled. */
  'start_unheard',
] as const

export type Trouble = (typeof TROUBLES)[number]

export type Weather = {
  /** Drawn anew each time that it is asked. */
  readonly happens: (trouble: Trouble) => boolean
  readonly isCalm: () => boolean
  readonly calmDown: () => void
  /** How much of the code goes on when it is told to cancel: no trouble of the weather, and it stays. */
  readonly stubborn: number
  /** Whether somebody says of attempts what is not so. */
  readonly hasLiar: boolean
  /** How long code runs; of short code some attempts are dispatched ahead. */
  readonly codeMs: (random: Random) => number
  /** How many runs people ask for at once, where they ask for many. */
  readonly burst_size: number
  /** Whether a worker is told to end now: what waits for a slot is given back, and what runs goes on. */
  readonly isToDrain: () => boolean
  readonly random: Random
}

/** Half of all troubles, most of them at every tenth occasion at the worst; what a worker does with a whole attempt more often. */
const SHARE = 0.5
const RATE_MAX = 0.1
const RATES_MAX: Partial<Record<Trouble, number>> = {
  start_unheard: 0.3,
  answers_late: 0.6,
  answers_twice: 0.3,
  cancel_unknown: 0.5,
  cancel_late: 0.5,
  api_away: 0.5,
  worker_stalls: 0.25,
  worker_crashes: 0.2,
}

export function weatherOf(random: Random): Weather {
  const drawn = TROUBLES.filter(() => random.isTrue(SHARE))
  const rates = new Map(drawn.map((trouble) => [trouble, random.between(0, RATES_MAX[trouble] ?? RATE_MAX)] as const))
  let isCalm = false
  // A source of its own: what is drawn besides changes nothing of a seed that is known.
  const paces = random.fork('pace')
  return {
    happens: (trouble) => !isCalm && random.isTrue(rates.get(trouble) ?? 0),
    isCalm: () => isCalm,
    calmDown() {
      isCalm = true
    },
    stubborn: random.pick([0, 0.3, 0.8]),
    hasLiar: random.isTrue(0.4),
    ...drawPace(paces, () => isCalm),
    random,
  }
}

const CODE_MS = 8 * SECOND_MS

/** Code that takes seconds, code that takes a moment, or both: a location that was quick is then slow, all at once. */
function drawPace(paces: Random, isCalm: () => boolean): Pick<Weather, 'codeMs' | 'burst_size' | 'isToDrain'> {
  const long_share = paces.pick([1, 0, 0.1, 0.1])
  const drain_rate = paces.pick([0, 0.3])
  return {
    codeMs: (random) => Math.floor(exponential(CODE_MS)(random) * (paces.isTrue(long_share) ? 1 : 0.03)),
    burst_size: long_share === 1 ? 1 : paces.pick([6, 20]),
    isToDrain: () => !isCalm() && paces.isTrue(drain_rate),
  }
}

/** For a story that is told step by step. */
export function fairWeather(random: Random): Weather {
  const still = { happens: () => false, isCalm: () => true, calmDown: () => undefined, stubborn: 0, hasLiar: false }
  return { ...still, codeMs: exponential(CODE_MS), burst_size: 1, isToDrain: () => false, random }
}
