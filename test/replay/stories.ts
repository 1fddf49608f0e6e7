// What the recorder lets the loops live through: what their activities answer, call by call, and what is signalled when.

import type { WorkflowHandle } from '@temporalio/client'
import type { WorkspaceLoopKind } from '../../src/core/names.js'
import { drainSignal, mergeDueSignal, missedSignal, pokeSignal } from '../../src/workflows/contract.js'
import type { LoopTimings, TurnReport } from '../../src/workflows/contract.js'
import { failure, type LoopScript, passingFailure } from '../fixtures/scripted-loops.js'

export type Story = LoopScript & {
  readonly kind: WorkspaceLoopKind
  readonly timings?: Partial<LoopTimings>
  readonly turns_max?: number
  /** Whether the other loop is there to be signalled. */
  readonly with_other?: boolean
  readonly live: (stage: Stage) => Promise<void>
}

export type Stage = {
  readonly handle: WorkflowHandle
  /** Resolves when so many calls of turn or maintain have begun, and the loop waits for a signal or for time. */
  readonly waiting: (calls: number) => Promise<void>
  readonly begun: (calls: number) => Promise<void>
  /** Resolves when the hand-over has begun so many times. */
  readonly swept: (calls: number) => Promise<void>
  readonly letGo: () => void
}

const due = (sequence: number): Partial<TurnReport> => ({ sequence, published_count: 1, merge_due: true })

/** By the name of its file. */
export const STORIES: Readonly<Record<string, Story>> = {
  'workspace-pokes': {
    kind: 'workspace',
    turns: [
      {},
      { more: true, published_count: 1 },
      { published_count: 1, open_runs: 1, running_tasks: 1, unstarted: 1, wake_in_ms: 30_000, wake_at: '2025-01-15T10:00:30.000Z' },
      'held',
      { published_count: 1, open_runs: 1, wake_in_ms: 5, wake_at: '2025-01-15T10:00:31.000Z' },
      {},
    ],
    async live({ handle, waiting, begun, letGo }) {
      await waiting(1)
      await handle.signal(pokeSignal)
      await waiting(3)
      await handle.signal(pokeSignal)
      await begun(4)
      // These come while a turn is under way, and are one turn together.
      await handle.signal(pokeSignal)
      await handle.signal(pokeSignal)
      letGo()
      // The fifth turn wants the sixth at once, and gets it after the shortest wait that there is.
      await waiting(6)
      await handle.signal(drainSignal)
    },
  },
  'workspace-failing-turns': {
    kind: 'workspace',
    turns: [failure('the pointer is damaged'), failure('the pointer is damaged'), failure('the pointer is damaged'), {}],
    async live({ handle, waiting }) {
      await waiting(3)
      await handle.signal(pokeSignal)
      await waiting(4)
      await handle.signal(drainSignal)
    },
  },
  'workspace-fails-and-begins-anew': {
    kind: 'workspace',
    turns: [failure('the pointer is damaged'), failure('the pointer is damaged')],
    turns_max: 2,
    live: async () => undefined,
  },
  'workspace-missed-segments': {
    kind: 'workspace',
    turns: [{}, { published_count: 1 }, { published_count: 1 }, {}],
    async live({ handle, waiting }) {
      await waiting(1)
      // More than one turn is told of.
      await handle.signal(
        missedSignal,
        Array.from({ length: 130 }, (_, i) => `01JHMPFN80G8M4P9V0MMKS${String(i).padStart(4, '0')}`),
      )
      await waiting(3)
      // The UI sends it without names.
      await handle.signal(missedSignal)
      await waiting(4)
      await handle.signal(drainSignal)
    },
  },
  'workspace-merge-due': {
    kind: 'workspace',
    with_other: true,
    turns: [{}, due(64), due(65), due(128), { sequence: 129, published_count: 1 }, due(193), due(194)],
    async live({ handle, waiting }) {
      for (let calls = 1; calls < 7; calls++) {
        await waiting(calls)
        await handle.signal(pokeSignal)
      }
      await waiting(7)
      await handle.signal(drainSignal)
    },
  },
  'workspace-merge-due-to-nobody': {
    kind: 'workspace',
    turns: [due(64), {}],
    async live({ handle, waiting }) {
      await waiting(1)
      await handle.signal(pokeSignal)
      await waiting(2)
      await handle.signal(drainSignal)
    },
  },
  'workspace-hand-over-fails': {
    kind: 'workspace',
    turns: [{ unstarted: 1, open_runs: 1 }],
    // The first try is retried by Temporal; what fails for good is swept again by the loop.
    sweeps: [passingFailure('the worker does not answer'), failure('the outbox is damaged')],
    async live({ handle, swept }) {
      await swept(3)
      await handle.signal(drainSignal)
    },
  },
  'workspace-cancelled-while-idle': {
    kind: 'workspace',
    turns: [{ unstarted: 1, open_runs: 1 }],
    async live({ handle, waiting }) {
      await waiting(1)
      await handle.cancel()
    },
  },
  'workspace-cancelled-in-a-turn': {
    kind: 'workspace',
    turns: [{}, 'held'],
    async live({ handle, waiting, begun }) {
      await waiting(1)
      await handle.signal(pokeSignal)
      await begun(2)
      await handle.cancel()
    },
  },
  'maintenance-by-clock-and-by-signal': {
    kind: 'maintenance',
    with_other: true,
    timings: { maintenance_ms: 1_000 },
    maintains: [{}, { missed: ['01JHMPFN80G8M4P9V0MMKSSZ7N'] }, 'held', { merged_files: 3 }],
    async live({ handle, begun, letGo }) {
      await begun(3)
      await handle.signal(mergeDueSignal)
      await handle.signal(pokeSignal)
      letGo()
      await begun(4)
      await handle.signal(drainSignal)
    },
  },
  'maintenance-finds-nobody-and-fails': {
    kind: 'maintenance',
    maintains: [{ missed: ['01JHMPFN80G8M4P9V0MMKSSZ7N'] }, failure('a base file is damaged'), {}],
    async live({ handle, waiting }) {
      await waiting(1)
      await handle.signal(mergeDueSignal)
      await waiting(3)
      await handle.signal(drainSignal)
    },
  },
  'maintenance-fails-and-is-poked': {
    kind: 'maintenance',
    maintains: [{}, failure('a base file is damaged'), { merged_files: 3 }],
    async live({ handle, waiting }) {
      await waiting(1)
      await handle.signal(mergeDueSignal)
      await waiting(2)
      // Before its next try is due by time, and without a word of merges.
      await handle.signal(pokeSignal)
      await waiting(3)
      await handle.signal(drainSignal)
    },
  },
  'maintenance-cancelled': {
    kind: 'maintenance',
    maintains: [{}, 'held'],
    async live({ handle, waiting, begun }) {
      await waiting(1)
      await handle.signal(mergeDueSignal)
      await begun(2)
      await handle.cancel()
    },
  },
}
