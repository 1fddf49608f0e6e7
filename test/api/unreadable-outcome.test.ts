// What a command answers that is durable, where its outcome cannot be read.

import { expect, test } from '@jest/globals'
import { outcomeOf } from '../../src/api/http/claimed.js'
import { systemClock } from '../../src/bin/clock.js'
import { unavailable } from '../../src/core/errors.js'
import type { LedgerEvent } from '../../src/events/event.js'

const EVENT = { event_id: '01JHMPFN9C4W8R2T6Y0B3D5F7H', idempotency_key: 'runreq:user:1' } as LedgerEvent
const CLAIMED = { status: 202, body: {}, events: [EVENT] }

const depsThatFailWith = (error: Error) => ({ current: { latest: () => Promise.reject(error) }, clock: systemClock, poke: () => undefined })

test('a command that is durable is pending where its outcome cannot be read', async () => {
  const deps = depsThatFailWith(unavailable('The store does not answer.'))
  expect(await outcomeOf(deps as never, CLAIMED as never, 1_000)).toEqual({ kind: 'pending' })
})

test('a bug is not taken for that', async () => {
  await expect(outcomeOf(depsThatFailWith(new Error('A bug.')) as never, CLAIMED as never, 1_000)).rejects.toThrow('A bug.')
})
