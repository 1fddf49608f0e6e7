// One address for several workers: a request goes to the first of them that takes it, so that it is known which of them
// works and which one waits.

import { ownAnswer, type Received, type Relay, send, startRelay } from '../../test/faults/relay.js'

export type Balancer = Relay & {
  /** From now on requests go to these, in this order. */
  readonly setTargets: (urls: readonly string[]) => void
}

export async function startBalancer(): Promise<Balancer> {
  let ports: readonly number[] = []
  const relay = await startRelay(async (received) => ({ kind: 'answer', answer: await firstAnswer(ports, received) }))
  return { ...relay, setTargets: (urls) => void (ports = urls.map((url) => Number(new URL(url).port))) }
}

async function firstAnswer(ports: readonly number[], received: Received) {
  for (const port of ports) {
    const answer = await send(port, received, {}).catch(() => undefined)
    // One that does not answer is gone, and the next one takes it.
    if (answer !== undefined) return answer
  }
  return ownAnswer(503, 'No worker is there.')
}
