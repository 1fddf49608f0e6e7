// A store behind a proxy that can stop answering: requests are taken, reach nobody, and are never answered.

import { send, startRelay } from './relay.js'

export type HangingStore = {
  readonly url: string
  /** How many requests wait for an answer that never comes. */
  readonly held: () => number
  readonly hang: () => void
  readonly close: () => Promise<void>
}

export async function startHangingStore(endpoint: string): Promise<HangingStore> {
  const port = Number(new URL(endpoint).port)
  let isHanging = false
  let held = 0
  const relay = await startRelay(async (received, gone) => {
    if (!isHanging) return { kind: 'answer', answer: await send(port, received, {}) }
    held += 1
    await new Promise<void>((resolve) => gone.addEventListener('abort', () => resolve(), { once: true }))
    held -= 1
    return { kind: 'cut' }
  })
  return {
    url: relay.url,
    held: () => held,
    hang() {
      isHanging = true
    },
    close: relay.close,
  }
}
