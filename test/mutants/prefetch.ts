// Guards of attempts that are dispatched ahead: how many, where they wait, and how they come back.

import { type Mutant, turn } from './mutant.js'

const FOLD = 'src/projections/prefetch.test.ts'
const CONTROLLER = 'src/controllers/prefetch.test.ts'
const WORKER = 'test/worker/prefetch.test.ts'

export const PREFETCH: readonly Mutant[] = [
  {
    name: 'prefetched attempts beyond a cap that somebody set on the location',
    edits: [{ file: 'src/projections/pool.ts', find: "?.source !== 'SLOTS') return 0", replace: '?.source === undefined) return 0' }],
    killed_by: { file: FOLD, title: 'takes no more than a cap of its own allows' },
  },
  {
    name: 'attempts prefetched behind slots that are stuck',
    edits: [
      { file: 'src/controllers/prefetch.ts', find: 'Math.max(0, slots - stale_count)', replace: 'Math.max(0, slots - 0 * stale_count)' },
    ],
    killed_by: { file: CONTROLLER, title: 'is nothing behind slots that are stuck, or attempts that nobody starts' },
  },
  {
    name: 'a place in a pool held by an attempt that waits, while another could run',
    edits: [{ file: 'src/controllers/dispatch.ts', find: "dispatchInto('free', waiting", replace: "dispatchInto('prefetched', waiting" }],
    killed_by: { file: CONTROLLER, title: 'goes behind those that a slot is free for, where both need a place in a pool' },
  },
  {
    name: 'prefetched attempts that are lost while they may wait',
    edits: [{ file: 'src/projections/attempt.ts', find: '(prefetched ? PREFETCH_WAIT_MS_MAX : 0)', replace: '(prefetched ? 0 : 0)' }],
    killed_by: { file: FOLD, title: 'has the time that it may wait beyond what it may take to start' },
  },
  {
    name: 'a slow location that is prefetched on',
    edits: [
      {
        file: 'src/projections/attempt.ts',
        find: 'if (attempt === null) return PREFETCH',
        replace: 'if (attempt === null && at < 0) return PREFETCH',
      },
    ],
    killed_by: { file: FOLD, title: 'that is taken back says that the location is slow, until short attempts outweigh it' },
  },
  {
    name: 'prefetched attempts that wait for ever',
    edits: [
      {
        file: 'src/activities/hand-over.ts',
        find: 'withdrawal.giveBack(view.sequence, overdue)',
        replace: 'withdrawal.giveBack(view.sequence, overdue.slice(overdue.length))',
      },
    ],
    killed_by: turn('prefetch', 'what was prefetched is taken back when it has waited for long, and what a slot was free for is not'),
  },
  {
    name: 'prefetched attempts that no worker keeps, left where they are',
    edits: [
      {
        file: 'src/activities/hand-over.ts',
        find: "answer.answer === 'BUSY' && entry.outbox.prefetched === true",
        replace: "answer.answer === 'BUSY' && entry.outbox.prefetched === null",
      },
    ],
    killed_by: turn(
      'prefetch',
      'what was prefetched and its worker does not keep is taken back at once, counts as no try, and starts nowhere any more',
    ),
  },
  {
    name: 'attempts that a worker starts in the order in which they came',
    edits: [
      {
        file: 'src/sdk/worker/waiting-room.ts',
        find: 'placeOf(each) < placeOf(first)',
        replace: 'placeOf(each) < Number.NEGATIVE_INFINITY',
      },
    ],
    killed_by: {
      file: WORKER,
      title: 'waits for a slot, and nothing is said of it before: those with the lowest place first, then those that came first',
    },
  },
  {
    name: 'a worker that ends with attempts which nobody hears of',
    edits: [{ file: 'src/sdk/worker/roster.ts', find: '      room.forgetAll()\n', replace: '' }],
    killed_by: { file: WORKER, title: 'is given back as soon as the worker is to end, while what runs goes on' },
  },
  {
    name: 'a turn that reads the ledger a second before it may publish',
    edits: [
      {
        file: 'src/turn/pass.ts',
        find: 'last_publish_at + store.same_name_interval_ms - ready_ms - clock.elapsed()',
        replace: 'Math.min(0, last_publish_at - ready_ms)',
      },
    ],
    killed_by: turn(
      'publish-pace',
      'what is acknowledged while a turn waits for the store is in its revision, and publishes are a second apart',
    ),
  },
]
