// One address for several processes that do the same, as a load balancer in front of them is: it asks each whether it is
// there, gives every request to the next one that is, and knows nothing of who was killed or stopped.

// Between two looks at a process, as a load balancer looks: by time.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Ending, ownAnswer, type Received, type Relay, send, startRelay } from '../faults/relay.js'

const HEALTH_PATH = '/healthz'
/** Between two looks at each of them, and how long one may take to answer. */
const LOOK_EVERY_MS = 500
const LOOK_TIMEOUT_MS = 1_000

type Backend = { readonly port: number; is_alive: boolean }

export async function startBalancer(ports: readonly number[]): Promise<Relay> {
  const backends = ports.map((port): Backend => ({ port, is_alive: false }))
  const closing = new AbortController()
  let next = 0

  /** Nobody who listens has seen the request, so another one may have it; else its caller has to ask again. */
  async function pass(received: Received, gone: AbortSignal): Promise<Ending> {
    for (let tries = 0; tries < backends.length; tries++) {
      const alive = backends.filter(({ is_alive }) => is_alive)
      const backend = alive[next++ % alive.length]
      if (backend === undefined) break
      try {
        return { kind: 'answer', answer: await send(backend.port, received, { signal: gone }) }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') return { kind: 'answer', answer: BROKEN_OFF }
        backend.is_alive = false
      }
    }
    return { kind: 'answer', answer: NOBODY }
  }

  async function look(backend: Backend): Promise<void> {
    while (!closing.signal.aborted) {
      backend.is_alive = await fetch(`http://127.0.0.1:${backend.port}${HEALTH_PATH}`, { signal: AbortSignal.timeout(LOOK_TIMEOUT_MS) })
        .then(({ ok }) => ok)
        .catch(() => false)
      await sleep(LOOK_EVERY_MS, undefined, { signal: closing.signal }).catch(() => undefined)
    }
  }

  const relay = await startRelay(pass)
  for (const backend of backends) void look(backend)
  return {
    ...relay,
    async close() {
      closing.abort()
      await relay.close()
    },
  }
}

const NOBODY = ownAnswer(503, 'Nobody is there to take it.')
const BROKEN_OFF = ownAnswer(502, 'Whoever took it is gone.')
