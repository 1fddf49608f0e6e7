// Attempts that are dispatched ahead, on a store that takes one publish a second: they go out with the one that a slot is free
// for, and those that find no slot soon are taken back.

import { expect, test } from '@jest/globals'
import type { Dispatch } from '../../src/api/contract/worker.js'
import { PREFETCH_WAIT_MS_MAX } from '../../src/core/limits.js'
import { SECOND_MS } from '../../src/core/time.js'
import type { LooseRow } from '../../src/projections/tables.js'
import { createReader } from '../../src/readers/reader.js'
import { loadWhy } from '../../src/readers/why/load.js'
import { whyOf } from '../../src/readers/why/why.js'
import { createExecutionStory } from '../simulation/execution/story.js'

type Options = { readonly interval_ms?: number; readonly prefetch?: number }

/** A location with one slot that is known to be quick, and three runs of one task that are out as far as there is room. */
async function withQuickLocation({ interval_ms = SECOND_MS, prefetch = 8 }: Options, run: (quick: Quick) => Promise<void>): Promise<void> {
  const story = createExecutionStory({ wrap: (store) => ({ ...store, same_name_interval_ms: interval_ms }) })
  await story.tell(async () => run(await quickLocation(story, prefetch)))
}

type Quick = Awaited<ReturnType<typeof quickLocation>>

async function quickLocation(story: ReturnType<typeof createExecutionStory>, prefetch: number) {
  const { automation, api, turn, out, person, world } = story
  const turning = automation()
  const door = await api()
  await turn(turning)
  await person.deploy('main', 0, 1, prefetch)
  await turn(turning)
  await person.askForRun(['a'])
  await turn(turning)
  await story.start(door, story.dispatchOf('a'))
  await story.succeed(door, story.dispatchOf('a'))
  await turn(turning)
  const asked: string[] = []
  for (let count = 0; count < 3; count++) asked.push((await person.askForRun(['a'])) ?? 'none')
  await turn(turning)
  // Ready since the same instant, they are dispatched in this order.
  const run_ids = asked.toSorted()
  function dispatchOf(run: number): Dispatch {
    const found = out.findLast(({ run_id }) => run_id === run_ids[run])
    if (found === undefined) throw new Error(`Run ${run} was not handed over.`)
    return found
  }
  const reader = createReader({ store: world.bucket, files: world.files })
  const tasks = async () => {
    const rows = await story.rows('tasks')
    return run_ids.map((run_id) => rows.findLast((row) => row['run_id'] === run_id) as LooseRow)
  }
  return {
    ...story,
    run_ids,
    tasks,
    states: async () => (await tasks()).map(({ state, attempt }) => [state, attempt]),
    /** The newest dispatch of a run, by its number; undefined: none. */
    sent: (run: number) => out.findLast(({ run_id }) => run_id === run_ids[run]),
    start: (run: number) => story.start(door, dispatchOf(run)),
    succeed: (run: number) => story.succeed(door, dispatchOf(run)),
    why: async (run_id: string) => {
      const found = await loadWhy(await reader.latest(), run_id, 'a', world.time.now())
      return 'problem' in found ? found.detail : whyOf(found, world.time.now()).code
    },
    turning,
    step: () => turn(turning),
    sweep: () => turning.hand_over.sweep(),
    wait: (duration_ms: number) => world.time.sleep(duration_ms),
  }
}

test.each([
  ['are dispatched ahead where publishes are a second apart', {}, ['DISPATCHED', 'DISPATCHED', 'DISPATCHED']],
  ['wait for a slot where a publish comes at once', { interval_ms: 0 }, ['DISPATCHED', 'READY', 'READY']],
  ['wait for a slot where the worker keeps nothing', { prefetch: 0 }, ['DISPATCHED', 'READY', 'READY']],
])('short tasks %s', async (_, options, expected) => {
  await withQuickLocation(options, async ({ tasks, sent, run_ids, why }) => {
    expect((await tasks()).map(({ state }) => state)).toEqual(expected)
    const isAhead = expected[1] === 'DISPATCHED'
    expect([0, 1, 2].map((run) => sent(run)?.wait_for_slot?.ms_max)).toEqual(
      isAhead ? [undefined, PREFETCH_WAIT_MS_MAX, PREFETCH_WAIT_MS_MAX] : [undefined, undefined, undefined],
    )
    const ready = isAhead ? 'PREFETCHED' : 'NO_ROOM'
    expect(await Promise.all(run_ids.map(why))).toEqual(['NOT_HANDED_OVER', ready, ready])
  })
})

test('what was prefetched and its worker does not keep is taken back at once, counts as no try, and starts nowhere any more', async () => {
  await withQuickLocation({}, async ({ states, tasks, sweep, step, wait, start, answerHandOver }) => {
    answerHandOver({ answer: 'BUSY' })
    await wait(6 * SECOND_MS)
    await sweep()
    await step()
    expect(await states()).toEqual([
      ['DISPATCHED', 1],
      ['RETRY_WAIT', 1],
      ['RETRY_WAIT', 1],
    ])
    expect((await tasks()).slice(1)).toMatchObject(
      [1, 2].map(() => ({ outcome_reason: 'WITHDRAWN', failures: 0, infra_losses: 0, releases: 0 })),
    )
    expect(await start(1)).toBe(409)
  })
})

test('what was prefetched is taken back when it has waited for long, and what a slot was free for is not', async () => {
  await withQuickLocation({}, async ({ states, sweep, step, wait, start, succeed, rows, sent }) => {
    await wait(PREFETCH_WAIT_MS_MAX - 4 * SECOND_MS)
    await sweep()
    await step()
    expect(await states()).toEqual([1, 2, 3].map(() => ['DISPATCHED', 1]))
    // Its start is claimed, and no turn knows of it yet.
    expect(await start(2)).toBe(200)
    await wait(5 * SECOND_MS)
    await sweep()
    await step()
    expect(await states()).toEqual([
      ['DISPATCHED', 1],
      ['RETRY_WAIT', 1],
      ['RUNNING', 1],
    ])
    const pool = async () => (await rows('pools')).find(({ pool_key }) => pool_key === 'location:main')
    expect(await pool()).toMatchObject({ in_use: 2 })
    // It goes on as any task that is ready, when there is room.
    await start(0)
    await succeed(0)
    await succeed(2)
    await step()
    expect(await states()).toEqual([
      ['SUCCEEDED', 1],
      ['DISPATCHED', 2],
      ['SUCCEEDED', 1],
    ])
    expect(sent(1)).not.toHaveProperty('wait_for_slot')
  })
})

test('what was prefetched of a run that is cancelled is taken back with the publish, and starts nowhere any more', async () => {
  await withQuickLocation({}, async ({ states, step, start, person, run_ids }) => {
    await person.cancel(run_ids[1] as string)
    await step()
    expect([await start(1), await start(2)]).toEqual([409, 200])
    await step()
    expect(await states()).toEqual([
      ['DISPATCHED', 1],
      ['CANCELLED', 1],
      ['RUNNING', 1],
    ])
  })
})

test('what was prefetched is taken back also where whoever claimed it died before it said so', async () => {
  await withQuickLocation({}, async ({ turning, states, automation, turn, wait, start, world }) => {
    await wait(PREFETCH_WAIT_MS_MAX)
    const unwatch = world.intercept(({ phase, process, operation, name, kill }) => {
      if (phase === 'after' && process === 'automation' && operation === 'put' && name.startsWith('starts/')) kill()
    })
    void turning.hand_over.sweep()
    await wait(SECOND_MS)
    unwatch()
    expect(await start(1)).toBe(409)
    const next = automation('next')
    await turn(next)
    expect(await states()).toEqual([1, 2, 3].map(() => ['DISPATCHED', 1]))
    await next.hand_over.sweep()
    await turn(next)
    expect(await states()).toEqual([
      ['DISPATCHED', 1],
      ['RETRY_WAIT', 1],
      ['RETRY_WAIT', 1],
    ])
  })
})
