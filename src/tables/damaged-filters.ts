// Keeps which filters of a store this process found damaged or gone: look-ups go on without them, the first one is reported, and
// maintenance in the same process rebuilds them (compactor/base/repair-filters.ts). It reads and writes nothing.

import { originalOf } from '../storage/stoppable.js'

export type DamagedFilters = {
  readonly names: () => readonly string[]
  /** True until the filter was repaired, or may have been by another process. */
  readonly isSkipped: (name: string) => boolean
  /** `report` is called the first time that a name is noted with one. */
  readonly note: (name: string, report?: () => void) => void
  /** Maintenance could not rebuild it; answers whether the reason is another one than before. */
  readonly noteFailure: (name: string, reason: string) => boolean
  /** It can be opened, or nothing that counts names it any more. */
  readonly clear: (name: string) => void
  /** Another process may have repaired some of them: each is opened once more when it is asked for. */
  readonly retry: () => void
}

type State = { isSkipped: boolean; isReported: boolean; failure?: string }

/** By the store, which the turns, readers and maintenance of a process share. */
const damagedOf = new WeakMap<object, DamagedFilters>()

export function damagedFiltersOf(store: object): DamagedFilters {
  const shared = originalOf(store)
  const known = damagedOf.get(shared)
  if (known !== undefined) return known
  const damaged = createDamagedFilters()
  damagedOf.set(shared, damaged)
  return damaged
}

function createDamagedFilters(): DamagedFilters {
  const states = new Map<string, State>()
  return {
    names: () => [...states.keys()],
    isSkipped: (name) => states.get(name)?.isSkipped === true,
    note(name, report) {
      const state = states.get(name) ?? { isSkipped: true, isReported: false }
      if (!state.isReported) report?.()
      state.isSkipped = true
      state.isReported ||= report !== undefined
      states.set(name, state)
    },
    noteFailure(name, reason) {
      const state = states.get(name)
      if (state === undefined || state.failure === reason) return false
      state.failure = reason
      return true
    },
    clear: (name) => void states.delete(name),
    retry() {
      for (const state of states.values()) state.isSkipped = false
    },
  }
}
