// What the recorder lets the loops live through: what their activities answer, call by call, and what is signalled when.

import type { WorkflowHandle } from '@temporalio/client'
import { taskQueues, type WorkspaceLoopKind } from '../../src/core/names.js'
import type { LoopTimings, MaintenanceReport, ScheduleReport, TurnReport } from '../../src/workflows/contract.js'
import {
  drainSignal,
  mergeDueSignal,
  missedSignal,
  pauseSignal,
  pauseUpdate,
  pokeSignal,
  resumeSignal,
  triggerUpdate,
} from '../../src/workflows/contract.js'
import { failure, type LoopScript, passingFailure } from '../fixtures/scripted-loops.js'

export type Story = LoopScript & {
  readonly kind: WorkspaceLoopKind | 'schedule'
  readonly timings?: Partial<LoopTimings>
  readonly turns_max?: number
  /** Of the input: 1 where nothing is said. */
  readonly v?: 1 | 2
  /** Lived by code that is there only for loops which began with it: its history is never recorded anew. */
  readonly is_past?: boolean
  /** Begun on the queue that all workspaces shared once, as loops of an older Servo were. */
  readonly is_shared?: boolean
  /** Whether the other loop is there to be signalled. */
  readonly with_other?: boolean
  readonly live: (stage: Stage) => Promise<void>
}

export type Stage = {
  readonly handle: WorkflowHandle
  /** Resolves when so many calls of turn, maintain or scheduleTurn have begun, and the loop waits for a signal or for time. */
  readonly waiting: (calls: number) => Promise<void>
  readonly begun: (calls: number) => Promise<void>
  /** Resolves when the hand-over has begun so many times. */
  readonly swept: (calls: number) => Promise<void>
  /** Resolves when so many calls have begun that only collect. */
  readonly collecting: (calls: number) => Promise<void>
  readonly letGo: () => void
  /** The collection that is held, with what it has found. */
  readonly letGoCollection: (answer: Partial<MaintenanceReport>) => void
}

/** Of every schedule's story. */
export const SCHEDULE_ID = '01JZ8M5Q3R7T9V0W2X4Y6ZABCD'

/** Where loops of a workspace move that ran on the queue of all. */
export const OWN_QUEUE = taskQueues({ tenant_id: 'acme', workspace_id: 'own' }).loops

/** Members of answers that older activities leave out. */
const WITH_SETTINGS: Partial<TurnReport> = { settings: { backstop_ms: 3_600_000, backstop_ms_max: 3_600_000, turns_max: 3 } }

function at(minutes: number): Partial<ScheduleReport> {
  const next_fire_at = new Date(Date.UTC(2025, 0, 15, 10) + minutes * 60_000).toISOString()
  return { next_fire_at, settings: { looks_max: 5, next_fire_slack_ms: 300_000 } }
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
  'workspace-moves-to-its-queue': {
    kind: 'workspace',
    is_shared: true,
    turns: [{}, { published_count: 1, open_runs: 1, running_tasks: 1, unstarted: 1 }, 'held'],
    async live({ handle, waiting, begun, swept, letGo }) {
      await waiting(1)
      await handle.signal(pokeSignal)
      await waiting(2)
      await swept(1)
      await handle.signal(pokeSignal)
      await begun(3)
      // The turn that is under way ends on its old queue first.
      await handle.signal(drainSignal, { task_queue: OWN_QUEUE })
      letGo()
    },
  },
  'maintenance-moves-to-its-queue': {
    kind: 'maintenance',
    is_past: true,
    is_shared: true,
    async live({ handle, waiting, collecting }) {
      await collecting(1)
      await waiting(1)
      await handle.signal(drainSignal, { task_queue: OWN_QUEUE })
    },
  },
  'schedule-moves-to-its-queue': {
    kind: 'schedule',
    is_shared: true,
    async live({ handle, waiting }) {
      await waiting(1)
      await handle.signal(pauseSignal, { request_id: 'told-on-the-way' })
      await handle.signal(drainSignal, { task_queue: OWN_QUEUE })
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
    is_past: true,
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
    is_past: true,
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
    is_past: true,
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
    is_past: true,
    maintains: [{}, 'held'],
    async live({ handle, waiting, begun }) {
      await waiting(1)
      await handle.signal(mergeDueSignal)
      await begun(2)
      await handle.cancel()
    },
  },
  'maintenance-merges-beside-a-collection': {
    kind: 'maintenance',
    is_past: true,
    with_other: true,
    maintains: [{ merged_files: 3 }],
    collects: [failure('a pack is damaged'), 'held'],
    async live({ handle, begun, collecting, letGoCollection }) {
      await begun(1)
      await collecting(2)
      await handle.signal(mergeDueSignal)
      await begun(2)
      // It begins anew when the collection is over, and merges until then.
      await handle.signal(drainSignal)
      await handle.signal(mergeDueSignal)
      await begun(3)
      letGoCollection({ missed: ['01JHMPFN80G8M4P9V0MMKSSZ7N'] })
    },
  },
  'maintenance-cancelled-while-it-collects': {
    kind: 'maintenance',
    is_past: true,
    collects: ['held'],
    async live({ handle, waiting, collecting }) {
      await waiting(1)
      await collecting(1)
      await handle.cancel()
    },
  },
  'maintenance-becomes-one-call': {
    kind: 'maintenance',
    collects: [{ again_in_ms: 600_000 }],
    maintains: [{ again_in_ms: 600_000 }],
    live: async () => undefined,
  },
  'maintenance-one-call-by-clock': {
    kind: 'maintenance',
    v: 2,
    with_other: true,
    maintains: [
      { again_in_ms: 1_000 },
      { again_in_ms: 1_000, missed: ['01JHMPFN80G8M4P9V0MMKSSZ7N'] },
      failure('a pack is damaged'),
      { again_in_ms: 3_600_000 },
    ],
    async live({ handle, waiting }) {
      await waiting(4)
      await handle.signal(drainSignal)
    },
  },
  'maintenance-one-call-merges-beside': {
    kind: 'maintenance',
    v: 2,
    maintains: ['held', failure('a base file is damaged'), { merged_files: 3 }],
    async live({ handle, begun, letGo }) {
      await begun(1)
      await handle.signal(mergeDueSignal)
      // It fails and is tried again while the look by the clock goes on, and the loop leaves when that is over.
      await begun(3)
      await handle.signal(drainSignal)
      letGo()
    },
  },
  'maintenance-one-call-cancelled': {
    kind: 'maintenance',
    v: 2,
    maintains: ['held'],
    async live({ handle, begun }) {
      await begun(1)
      await handle.cancel()
    },
  },
  'schedule-by-clock-and-by-poke': {
    kind: 'schedule',
    looks: [
      { wake_in_ms: 1_000 },
      { wake_in_ms: 1_000, next_fire_at: '2025-01-16T09:00:00.000Z' },
      // Nothing changed: no attribute is written.
      { next_fire_at: '2025-01-16T09:00:00.000Z' },
      { status: 'ERROR', next_fire_at: '2025-01-16T09:00:00.000Z' },
    ],
    async live({ handle, waiting }) {
      await waiting(3)
      await handle.signal(pokeSignal)
      await waiting(4)
      await handle.signal(drainSignal)
    },
  },
  'schedule-paused-and-resumed': {
    kind: 'schedule',
    looks: [{}, 'held', { status: 'PAUSED', next_fire_at: null }, {}],
    async live({ handle, waiting, begun, letGo }) {
      await waiting(1)
      await handle.signal(pauseSignal, { request_id: 'pause-1', requested_by: 'user:1', reason: 'The warehouse is under maintenance.' })
      await begun(2)
      // The UI sends them without an argument; these two go with the next call, in their order.
      await handle.signal(resumeSignal)
      await handle.signal(pauseSignal)
      letGo()
      await waiting(3)
      await handle.signal(resumeSignal)
      await waiting(4)
      await handle.signal(drainSignal)
    },
  },
  'schedule-triggered': {
    kind: 'schedule',
    looks: [{}, {}, failure('the pointer is damaged'), {}, 'held'],
    async live({ handle, waiting, begun, letGo }) {
      await waiting(1)
      await handle.executeUpdate(triggerUpdate, { args: [{ request_id: 'by-hand-1' }] })
      // Who waits is told of a call that failed, and nothing of it is said again.
      await handle.executeUpdate(triggerUpdate, { args: [{ request_id: 'by-hand-2', partition: '2025-01-14' }] })
      await waiting(4)
      await handle.executeUpdate(triggerUpdate, { args: [{ request_id: '' }] }).catch(() => undefined)
      const triggered = handle.executeUpdate(triggerUpdate, { args: [{ request_id: 'by-hand-3' }] })
      await begun(5)
      // The loop leaves when it has answered.
      await handle.signal(drainSignal)
      letGo()
      await triggered
    },
  },
  'schedule-fails-and-begins-anew': {
    kind: 'schedule',
    looks: [failure('the pointer is damaged'), failure('the pointer is damaged')],
    turns_max: 2,
    // What could not be said goes along.
    live: ({ handle }) => handle.signal(pauseSignal, { request_id: 'pause-1' }),
  },
  'schedule-not-found-then-removed': {
    kind: 'schedule',
    looks: [{ status: 'WAITING', wake_in_ms: 1_000, next_fire_at: null, page: null }, {}, { status: 'REMOVED', next_fire_at: null }],
    async live({ handle, waiting }) {
      await waiting(2)
      await handle.signal(pokeSignal)
    },
  },
  'schedule-cancelled-in-a-call': {
    kind: 'schedule',
    looks: [{}, 'held'],
    async live({ handle, waiting, begun }) {
      await waiting(1)
      await handle.signal(pokeSignal)
      await begun(2)
      await handle.cancel()
    },
  },
  'workspace-settings-in-answers': {
    kind: 'workspace',
    with_other: true,
    // The answer decides when maintenance is poked, whatever its other members say.
    turns: [
      { ...WITH_SETTINGS, ...due(64), poke_maintenance: true },
      { ...WITH_SETTINGS, ...due(65), poke_maintenance: false },
      { ...WITH_SETTINGS, sequence: 66, poke_maintenance: true },
    ],
    async live({ handle, waiting }) {
      await waiting(1)
      await handle.signal(pokeSignal)
      await waiting(2)
      // The third turn is the last one of the run.
      await handle.signal(pokeSignal)
    },
  },
  'schedule-settings-in-answers': {
    kind: 'schedule',
    looks: [at(0), { ...at(4), status: 'PAUSED' }, at(8), at(9), at(16)],
    async live({ handle, waiting }) {
      await waiting(1)
      await handle.executeUpdate(pauseUpdate, { args: [{}], updateId: 'update-1' })
      await waiting(2)
      // Without an id, and with one; one that is not known makes no call.
      await handle.signal(resumeSignal)
      await waiting(3)
      await handle.signal('Pause')
      await handle.signal(pauseSignal, { request_id: 'pause-1' })
      await waiting(4)
      // The fifth look is the last one of the run.
      await handle.signal(pokeSignal)
    },
  },
}
