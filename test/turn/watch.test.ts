// What turns tell those who count: each publish once, by whoever won it, and how every turn ended.

import { expect, test } from '@jest/globals'
import { unavailable } from '../../src/core/errors.js'
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.js'
import { type AppendEnd, createAppender } from '../../src/ledger/append.js'
import type { PublishReport, TurnEnd, TurnWatch } from '../../src/turn/watch.js'
import { findMissed } from '../fixtures/roles.js'
import { createScenario, loseAnswer, once } from '../fixtures/scenario.js'

function seen() {
  const published: PublishReport[] = []
  const ended: TurnEnd[] = []
  const other: string[] = []
  const watch: TurnWatch = {
    onPublished: (report) => published.push(report),
    onLost: () => other.push('lost'),
    onMended: (kind, count) => other.push(`${kind} ${count}`),
    onEnded: (end) => ended.push(end),
  }
  return { watch, published, other, outcomes: () => ended.map(({ outcome }) => outcome), ended }
}

test('a turn says what it made visible, and one that finds nothing says only that', async () => {
  const { say, writer, decider, tell, defineAssets, expectInvariants } = createScenario()
  const { watch, published, ended, outcomes, other } = seen()
  const { turn } = decider('watched', { watch })
  await tell(async () => {
    await defineAssets()
    await writer().append([say.runRequested('user:1', { assets: { keys: ['a', 'b', 'c'] } })])
    await turn()
    await turn()
  })
  expect(outcomes()).toEqual(['published', 'quiet'])
  expect(ended.map(({ rounds }) => rounds > 0)).toEqual([true, false])
  const runs = published.flatMap(({ tally }) => [...(tally.counts.get('servo_runs_total') ?? [])])
  expect(runs).toEqual([
    ['PENDING', 1],
    ['PLANNED', 1],
  ])
  const dispatched = published.flatMap(({ tally }) => tally.counts.get('servo_tasks_total')?.get('DISPATCHED NONE') ?? 0)
  const delays = published.flatMap(({ tally }) => tally.durations_ms.get('servo_dispatch_delay_seconds')?.get('ready_to_dispatched') ?? [])
  expect(dispatched.reduce((sum, count) => sum + count, 0)).toBe(delays.length)
  expect(delays.length).toBeGreaterThan(0)
  expect(published.every(({ fold_delays_ms }) => fold_delays_ms.every((delay_ms) => delay_ms >= 0))).toBe(true)
  expect(other).toEqual([])
  await expectInvariants()
})

test('what two turns fold at once is counted once, by the one whose publish was first', async () => {
  const { say, writer, decider, tell, defineAssets, expectInvariants, world } = createScenario()
  const [first, second] = [seen(), seen()]
  const [one, two] = [decider('first', first), decider('second', second)]
  await tell(async () => {
    await defineAssets()
    await one.turn()
    await two.turn()
    await writer().append([say.runRequested('user:1', { assets: { keys: ['a'] } })])
    // The other one is quicker, while this one is about to replace the pointer.
    once(world, 'before', { process: 'first', operation: 'put', name: 'manifests/orchestration.manifest.json' }, async () => {
      await two.turn()
    })
    await one.turn()
  })
  expect([first.other, second.other]).toEqual([['lost'], []])
  const pending = [first, second].flatMap(({ published }) =>
    published.map(({ tally }) => tally.counts.get('servo_runs_total')?.get('PENDING') ?? 0),
  )
  expect(pending.reduce((sum, count) => sum + count, 0)).toBe(1)
  await expectInvariants()
})

test('a segment that only a full listing found is told, and a turn that fails', async () => {
  const { say, writer, decider, world, tell, expectInvariants } = createScenario()
  const { watch, other, outcomes } = seen()
  const { turn } = decider('watched', { watch })
  await tell(async () => {
    await turn()
    once(world, 'before', { process: 'stalled', operation: 'put' }, () => world.time.sleep(10 * MINUTE_MS))
    once(world, 'after', { process: 'stalled', operation: 'put' }, ({ kill }) => kill())
    void writer('stalled').append([say.poolDefined('pool:x', 3)])
    await world.time.sleep(9 * MINUTE_MS)
    await writer().append([say.poolDefined('pool:y', 3)])
    await turn()
    await world.time.sleep(2 * MINUTE_MS)
    await turn({ missed: await findMissed(world, world.start('keeper')) })
    once(world, 'before', { process: 'watched', operation: 'get' }, () => {
      throw unavailable('Gone.')
    })
    await expect(turn()).rejects.toThrow('Gone.')
  })
  expect(other).toEqual(['late_segment 1'])
  expect(outcomes()).toEqual(['published', 'published', 'published', 'failed'])
  await world.time.pass(HOUR_MS)
  await expectInvariants()
})

test('an append says how it ended, and how often it was tried', async () => {
  const { say, world, tell } = createScenario()
  const { store, clock, random } = world.start('api')
  const ends: AppendEnd[] = []
  const appender = createAppender({
    store,
    clock,
    random: random.bytes,
    scope: world.scope,
    server_time: world.clock.now(),
    closedThrough: () => 0,
    onAppend: (end) => ends.push(end),
  })
  await tell(async () => {
    await appender.append([say.poolDefined('pool:x', 1)])
    once(world, 'before', { process: 'api', operation: 'put' }, loseAnswer)
    await appender.append([say.poolDefined('pool:y', 1)])
  })
  expect(ends.map(({ outcome, tries }) => [outcome, tries])).toEqual([
    ['appended', 1],
    ['appended', 2],
  ])
  expect(ends.every(({ duration_ms }) => duration_ms > 0)).toBe(true)
})
