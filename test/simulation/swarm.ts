// Which faults a seed meets, and how often: each run has a random few of them, so that rare ones are not always drowned
// by common ones, and some runs have none at all.

import { FAULTS, type Fault, type FaultRule } from '../faults/fault-store.js'
import type { Random } from '../fixtures/random.js'

/** The most that a fault may come to in a run, for each call: beyond it nothing gets done any more. */
const RATE_MAX: Partial<Record<Fault, number>> = { kill: 0.006, pause: 0.004, burst: 0.003 }
const RATE_MAX_OTHERS = 0.05

const PREFIXES = ['ledger/', 'manifests/', 'state/'] as const

export function drawFaults(random: Random): readonly FaultRule[] {
  const share = random.pick([0, 0.2, 0.4, 0.7])
  return (Object.keys(FAULTS) as Fault[])
    .filter(() => random.isTrue(share))
    .map((fault) => ({
      fault,
      probability: random.between(0, RATE_MAX[fault] ?? RATE_MAX_OTHERS),
      ...(random.isTrue(0.25) ? { prefix: random.pick(PREFIXES) } : {}),
    }))
}

/** A machine's clock: mostly right, sometimes minutes off, sometimes running away. */
export function drawSkew(random: Random): (now: number) => number {
  const offset_ms = random.isTrue(0.5) ? 0 : random.between(-240_000, 240_000)
  const drift = random.isTrue(0.8) ? 0 : random.between(-0.2, 0.2)
  const from = random.between(0, 600_000)
  let first: number | undefined
  return (now) => {
    first ??= now
    return offset_ms + drift * Math.max(0, now - first - from)
  }
}
