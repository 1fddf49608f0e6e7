// A bucket in memory that counts what Google would bill: names come in pages of a thousand, and time is whatever it is told.

import type { Clock } from '../../src/core/time.js'
import { createMemoryStore } from '../../src/storage/memory.js'
import type { ObjectStore } from '../../src/storage/object-store.js'

/** Calls of the port. A `get` is two requests on Google Cloud Storage, everything else is one. */
export type Calls = { readonly put: number; readonly list: number; readonly get: number; readonly head: number; readonly delete: number }

export type CountedStore = {
  readonly store: ObjectStore
  readonly calls: () => Calls
  /** What a piece of work calls. */
  readonly callsOf: (work: () => Promise<unknown>) => Promise<Calls>
}

export function openCountedStore(clock: Pick<Clock, 'now'>): CountedStore {
  const bucket = createMemoryStore({ clock })
  const counts = { put: 0, list: 0, get: 0, head: 0, delete: 0 }
  const counting = <Name extends keyof Calls>(name: Name): ObjectStore[Name] =>
    ((...args: Parameters<ObjectStore[Name]>) => {
      counts[name] += 1
      return (bucket[name] as (...args: unknown[]) => unknown)(...args)
    }) as ObjectStore[Name]
  const calls = (): Calls => ({ ...counts })
  return {
    // One page of a listing is a snapshot there, so a turn lists once where one page is enough.
    store: {
      ...bucket,
      page_is_snapshot: true,
      put: counting('put'),
      list: counting('list'),
      get: counting('get'),
      head: counting('head'),
      delete: counting('delete'),
    },
    calls,
    async callsOf(work) {
      const before = calls()
      await work()
      const after = calls()
      return {
        put: after.put - before.put,
        list: after.list - before.list,
        get: after.get - before.get,
        head: after.head - before.head,
        delete: after.delete - before.delete,
      }
    },
  }
}
