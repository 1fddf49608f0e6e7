// Says of attempts what it has no right to: with tokens that it saw, made up, or altered. It runs no code. What must never be
// believed is written down if it was answered as if it were true.

import type { Dispatch } from '../../../src/api/contract/worker.js'
import { SECOND_MS } from '../../../src/core/time.js'
import { makeToken } from '../../../src/core/token.js'
import type { Process } from '../../fixtures/world.js'
import { type Actor, exponential } from '../actor.js'
import type { Callback, CallbackPath } from './door.js'
import { askApi, type Site, UNANSWERED } from './site.js'
import { newId } from './worker.js'

type Lie = {
  readonly name: string
  readonly callback: Callback
  /** Nobody can know better: the thief may be told to start, and does not. */
  readonly isOpen?: boolean
}

/** Dispatches that it overheard, oldest first. */
export const createLiar = (site: Site, name: string, options: Actor['options']): Actor => ({
  name,
  options,
  think_ms: exponential(3 * SECOND_MS),
  begin: (process) => async () => {
    const { overheard, weather, witness } = site
    if (overheard.length === 0 || weather.isCalm() || !weather.hasLiar) return
    const { callback, name: lie, isOpen = false } = lieOf(process, overheard)
    const heard = await askApi(site, process, (api) => api.callback(callback))
    if (isOpen || heard === UNANSWERED || heard.status !== 200) return
    witness.believed.push({ attempt_id: callback.attempt_id, lie, status: heard.status })
  },
})

function lieOf(process: Process, overheard: readonly Dispatch[]): Lie {
  const { random } = process
  const one = random.pick(overheard.slice(-6))
  const other = random.pick(overheard.slice(-4))
  const { attempt_id, task_token } = one
  const said = { execution_id: newId({ process }), sequence: random.pick([0, one.sequence, one.sequence, 1_000_000]) }
  const bodies = {
    started: { ...said, worker_id: 'liar' },
    heartbeat: { ...said, seq: 7 },
    completed: { ...said, outcome: 'SUCCEEDED', materialization_id: newId({ process }) },
  }
  const path = random.pick<CallbackPath>(['started', 'heartbeat', 'completed'])
  const as = (token: string, body: object = bodies[path], to: CallbackPath = path): Callback => ({
    path: to,
    attempt_id,
    task_token: token,
    body: body as Callback['body'],
  })
  switch (random.below(4)) {
    case 0:
      return {
        name: `${path} with the token of another attempt`,
        callback: as(other.attempt_id === attempt_id ? 'servo1.s1.e30.AAAA' : other.task_token),
      }
    case 1:
      return {
        name: `${path} with a token that it made itself`,
        callback: as(makeToken([{ secret_key_id: 's1', secret: 'a guess' }], { ...one, expires_at: Number.MAX_SAFE_INTEGER })),
      }
    case 2:
      return {
        name: 'the end of an execution that nobody told to start',
        callback: as(task_token, random.isTrue(0.5) ? bodies.completed : { ...said, outcome: 'RELEASED' }, 'completed'),
      }
    default:
      return { name: `${path} of an execution of its own`, callback: as(task_token), isOpen: path === 'started' }
  }
}
