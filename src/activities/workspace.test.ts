import { getEventListeners } from 'node:events'
import { expect, it } from '@jest/globals'
import { asyncLocalStorage, type Context } from '@temporalio/activity'
import { createStory } from '../../test/fixtures/fold-story.js'
import { createWorkspaceActivities, waitMs } from './workspace.js'
import { createWorkspacePages } from './workspace-page.js'

const T0 = 1_736_935_200_000

it.each([
  ['nothing is due', null, 250, null],
  ['a whole second later, less what has passed of it', 5_000, 250, 4_750],
  ['at the end of the second in which it is due', 4_001, 250, 4_750],
  ['at once, where the turn took until then', 1_000, 1_300, 0],
  ['within the same second of the turn', 300, 980.4, 20],
  ['a second after the turn, where it was left', 0, 250, 1_000],
])('waits: %s', (_, wake_in_ms, took_ms, expected) => {
  expect(waitMs({ processed_at: T0, ended_at: T0 + took_ms, wake_in_ms })).toBe(expected)
})

it('leaves no listener behind with a hand-over, however it ends', async () => {
  const scope = { tenant_id: 'acme', workspace_id: 'prod' }
  const [stopping, cancelling] = [new AbortController(), new AbortController()]
  let sweep = () => Promise.resolve(0)
  const { handOver } = createWorkspaceActivities({
    scope,
    clock: { now: () => T0, elapsed: () => 0, sleep: async () => undefined },
    turn: undefined as never,
    hand_over: { onPublish: () => undefined, sweep: () => sweep(), settled: async () => undefined },
    pages: undefined as never,
    timings: { backstop_ms: 1, backstop_ms_max: 1 },
    stopping: stopping.signal,
    overdue: new AbortController().signal,
  })
  const context = { heartbeat: () => undefined, cancellationSignal: cancelling.signal } as unknown as Context
  const call = () => asyncLocalStorage.run(context, () => handOver(scope))
  for (let times = 0; times < 3; times++) await call()
  sweep = () => Promise.reject(new Error('no'))
  await expect(call()).rejects.toThrow('no')
  sweep = () => {
    stopping.abort()
    return new Promise(() => undefined)
  }
  await expect(call()).rejects.toThrow('leaves the call to another')
  for (const { signal } of [stopping, cancelling]) expect(getEventListeners(signal, 'abort')).toEqual([])
})

it('says that maintenance is to be poked when a merge falls due, and again 64 revisions later', async () => {
  const scope = { tenant_id: 'acme', workspace_id: 'prod' }
  const { rows } = createStory()
  let answer = { sequence: 0, merge_due: false }
  const usual = { processed_at: T0, ended_at: T0, published_count: 1, counts: undefined as never, more: false, wake_in_ms: null }
  const timings = { backstop_ms: 60_000, backstop_ms_max: 600_000 }
  const { turn } = createWorkspaceActivities({
    scope,
    clock: { now: () => T0, elapsed: () => 0, sleep: async () => undefined },
    turn: { run: async () => ({ ...usual, ...answer }), follow: async () => false, workspace: () => ({ rows }) as never },
    hand_over: undefined as never,
    pages: createWorkspacePages(),
    timings,
    stopping: new AbortController().signal,
    overdue: new AbortController().signal,
  })
  const context = { heartbeat: () => undefined } as unknown as Context
  const said: (boolean | undefined)[] = []
  for (const [sequence, merge_due] of [
    [64, true],
    [65, true],
    [127, true],
    [128, true],
    [129, false],
    [130, true],
  ] as const) {
    answer = { sequence, merge_due }
    const { poke_maintenance, settings } = await asyncLocalStorage.run(context, () => turn({ ...scope, missed: [] }))
    said.push(poke_maintenance)
    expect(settings).toEqual({ ...timings, turns_max: 100 })
  }
  expect(said).toEqual([true, false, false, true, false, true])
})
