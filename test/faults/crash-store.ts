// Stops an actor at one exact store call, for the enumeration of all of them. Calls are counted over all actors; at call
// `at` the actor dies before or after it took effect, or the call takes effect when the harness says so (F3, F10).

import { unavailable } from '../../src/core/errors.js'
import type { ObjectStore } from '../../src/storage/object-store.js'
import { KilledError, type Operation } from './fault-store.js'

/** - `before`: killed, and the call never reached the store.
 *  - `after`: killed, and the call took effect.
 *  - `late`: alive, told that there is no answer; the call takes effect at `release`.
 *  - `late_killed`: killed; the call takes effect at `release`, when something else may run in the actor's place.
 *  Of a read only `before` and `late` make a difference. */
export const CRASHES = ['before', 'after', 'late', 'late_killed'] as const
export type Crash = (typeof CRASHES)[number]

export type CrashPoint = { readonly at: number; readonly how: Crash }
export type CrashCall = { readonly number: number; readonly actor: string; readonly operation: Operation; readonly name: string }

export type CrashScript = {
  readonly calls: readonly CrashCall[]
  /** The points that were reached. */
  readonly reached: readonly CrashPoint[]
  /** Lets the calls that were held back take effect, in their order; what they come to, nobody hears. */
  readonly release: () => Promise<void>
  /** The actor's own handle on the store. A new one, under any name, is a new process. */
  readonly store: (inner: ObjectStore, actor: string, onKill?: () => void) => ObjectStore
}

/** Without points it only counts and records. */
export function createCrashScript(points: readonly CrashPoint[] = []): CrashScript {
  const calls: CrashCall[] = []
  const reached: CrashPoint[] = []
  const held: (() => Promise<unknown>)[] = []

  function handle(inner: ObjectStore, actor: string, onKill?: () => void): ObjectStore {
    let is_killed = false
    const killed = (): KilledError => {
      if (!is_killed) onKill?.()
      is_killed = true
      return new KilledError(actor)
    }

    async function call<Answer>(operation: Operation, name: string, apply: () => Promise<Answer>): Promise<Answer> {
      if (is_killed) throw killed()
      const number = calls.length + 1
      calls.push({ number, actor, operation, name })
      const point = points.find(({ at }) => at === number)
      if (point === undefined) {
        const answer = await apply()
        // Another call of the same actor may have killed it meanwhile.
        if (is_killed) throw killed()
        return answer
      }
      reached.push(point)
      if (point.how === 'before') throw killed()
      if (point.how === 'after') {
        await apply()
        throw killed()
      }
      if (operation === 'put' || operation === 'delete') held.push(apply)
      throw point.how === 'late' ? unavailable(`The store did not answer ${actor}.`) : killed()
    }

    return {
      ...inner,
      put(name, bytes, options) {
        const sent = new Uint8Array(bytes)
        return call('put', name, () => inner.put(name, sent, options))
      },
      get: (name) => call('get', name, () => inner.get(name)),
      head: (name) => call('head', name, () => inner.head(name)),
      list: (prefix, start_after) => call('list', prefix, () => inner.list(prefix, start_after)),
      delete: (name, options) => call('delete', name, () => inner.delete(name, options)),
    }
  }

  async function release(): Promise<void> {
    for (const apply of held.splice(0)) await apply().catch(() => undefined)
  }

  return { calls, reached, release, store: handle }
}
