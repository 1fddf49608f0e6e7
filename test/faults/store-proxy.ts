// Stands before a store that speaks HTTP and fails as networks and stores do: by a seed, and at a rate that can be changed
// while it runs. The classes are those of LEDGER section 10; what fault-store.ts does inside of a process, this does between two.

import { Agent } from 'node:http'
// Delays are what this is for.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../fixtures/random.js'
import { type Answer, CUT, type Ending, ownAnswer, type Received, type Relay, send, startRelay } from './relay.js'

/** What can happen to a request, its class, and how often that is of all that happens. */
export const PROXY_FAULTS = {
  /** The connection ends, and nothing has reached the store. */
  cut_before: { class: 'F1', weight: 8, is_for_reads: true },
  /** The store has done it, and the connection ends. */
  cut_after: { class: 'F2', weight: 12, is_for_reads: false },
  /** The connection ends, and the store does it seconds later, the caller dead or alive. */
  late: { class: 'F3', weight: 6, is_for_reads: false },
  /** Too many requests; nothing was done. */
  throttled: { class: 'F5', weight: 4, is_for_reads: false },
  unavailable: { class: 'F6', weight: 8, is_for_reads: true },
  /** The way there or the way back takes long. */
  delay: { class: 'F8', weight: 16, is_for_reads: true },
  /** Half of the answer comes, then the connection ends. */
  half_answer: { class: 'F9', weight: 2, is_for_reads: true },
  /** It is done, and no answer ever comes: the caller gives up by itself. */
  no_answer: { class: 'F3', weight: 1, is_for_reads: true },
} as const

export type ProxyFault = keyof typeof PROXY_FAULTS
const FAULTS = Object.keys(PROXY_FAULTS) as ProxyFault[]

export type StoreProxy = Relay & {
  /** Of the reads, from 0 to 1; of the writes, of which there are fewer, three times as many. */
  readonly setRate: (rate: number) => void
  readonly counts: () => { readonly requests: number; readonly faults: Readonly<Record<ProxyFault, number>> }
}

const WRITES = 3
const LATE_MS = [200, 15_000] as const
const DELAY_MS = [20, 2_000] as const
/** Longer than any caller waits: the adapter gives up after 30 s. */
const NO_ANSWER_MS = 60_000

export type StoreProxyOptions = {
  /** Those that can happen. Default: all. */
  readonly faults?: readonly ProxyFault[]
  /** From and to: how long after its caller has given up a late write reaches the store. */
  readonly late_ms?: readonly [number, number]
}

export async function startStoreProxy(
  store_port: number,
  random: Random,
  { faults: possible = FAULTS, late_ms = LATE_MS }: StoreProxyOptions = {},
): Promise<StoreProxy> {
  const agent = new Agent({ keepAlive: true })
  const faults = Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as Record<ProxyFault, number>
  let requests = 0
  let rate = 0
  const closing = new AbortController()

  /** The store's own answer; where it gives none, neither does this. */
  const pass = (received: Received): Promise<Answer> => send(store_port, received, { agent })

  async function bend(fault: ProxyFault, received: Received, gone: AbortSignal): Promise<Ending> {
    const either = AbortSignal.any([gone, closing.signal])
    const wait = (ms: number) => sleep(ms, undefined, { signal: either }).catch(() => undefined)
    switch (fault) {
      case 'cut_before':
        return CUT
      case 'cut_after':
        await pass(received)
        return CUT
      case 'late': {
        const after_ms = random.between(...late_ms)
        void sleep(after_ms, undefined, { signal: closing.signal })
          .then(() => pass(received))
          .catch(() => undefined)
        return CUT
      }
      case 'throttled':
        return { kind: 'answer', answer: ownAnswer(429, 'Too many requests.') }
      case 'unavailable':
        return { kind: 'answer', answer: ownAnswer(503, 'Not now.') }
      case 'delay': {
        const isBefore = random.isTrue(0.5)
        const delay_ms = random.between(...DELAY_MS)
        if (isBefore) await wait(delay_ms)
        const answer = await pass(received)
        if (!isBefore) await wait(delay_ms)
        return { kind: 'answer', answer }
      }
      case 'half_answer':
        return { kind: 'half', answer: await pass(received) }
      case 'no_answer':
        await pass(received)
        await wait(NO_ANSWER_MS)
        return CUT
    }
  }

  const relay = await startRelay(async (received, gone) => {
    requests += 1
    const fault = random.isTrue(isRead(received) ? rate : rate * WRITES) ? drawn(random, possible, received) : undefined
    if (fault === undefined) return { kind: 'answer', answer: await pass(received) }
    faults[fault] += 1
    return bend(fault, received, gone)
  })
  return {
    ...relay,
    setRate(next) {
      rate = next
    },
    counts: () => ({ requests, faults: { ...faults } }),
    async close() {
      closing.abort()
      await relay.close()
      agent.destroy()
    },
  }
}

const isRead = ({ method }: Received): boolean => method === 'GET' || method === 'HEAD'

function drawn(random: Random, possible: readonly ProxyFault[], received: Received): ProxyFault | undefined {
  const fit = possible.filter((fault) => !isRead(received) || PROXY_FAULTS[fault].is_for_reads)
  let at = random.below(fit.reduce((sum, fault) => sum + PROXY_FAULTS[fault].weight, 0))
  for (const fault of fit) {
    at -= PROXY_FAULTS[fault].weight
    if (at < 0) return fault
  }
  return undefined
}
