// A store for work that can be stopped half-way: once the signal is aborted it takes no call any more, so that whatever still
// goes on ends at its next read or write, as it would end with its process. What is under way then is answered.

import type { ObjectStore } from './object-store.js'

/** No operating error, which callers would meet with another try. */
export class StoppedError extends Error {
  constructor() {
    super('This work was stopped, and the store takes no more calls of it.')
    this.name = 'StoppedError'
  }
}

const originals = new WeakMap<object, object>()

/** The store itself. What a process remembers of a store is kept by this, so that work which can be stopped shares it. */
export const originalOf = <Store extends object>(store: Store): Store => (originals.get(store) as Store | undefined) ?? store

/** What is remembered of the one is remembered of the other. */
export const standInFor = (store: object, stand_in: object): void => void originals.set(stand_in, originalOf(store))

export function stoppableStore(store: ObjectStore, stopped: AbortSignal): ObjectStore {
  const unlessStopped = async <T>(call: () => Promise<T>): Promise<T> => {
    if (stopped.aborted) throw new StoppedError()
    return call()
  }
  const stoppable: ObjectStore = {
    ...store,
    put: (name, bytes, options) => unlessStopped(() => store.put(name, bytes, options)),
    get: (name) => unlessStopped(() => store.get(name)),
    head: (name) => unlessStopped(() => store.head(name)),
    list: (prefix, start_after) => unlessStopped(() => store.list(prefix, start_after)),
    delete: (name, options) => unlessStopped(() => store.delete(name, options)),
  }
  standInFor(store, stoppable)
  return stoppable
}
