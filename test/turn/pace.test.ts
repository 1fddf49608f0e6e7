// How fast turns publish while merges take their time, on a machine on which a turn takes a few milliseconds.

import { expect, test } from '@jest/globals'
import { DELTAS_MAX, MERGE_DUE_DELTAS, PUBLISH_AFTER_MS } from '../../src/core/limits.js'
import { SECOND_MS } from '../../src/core/time.js'
import { foldOnly } from '../../src/turn/reconcile.js'
import { merge } from '../fixtures/roles.js'
import { createScenario } from '../fixtures/scenario.js'

type Published = { readonly at: number; readonly deltas: number }

/** Something new for every turn, and turns one after the other for so long; a merge when one is due, each of which takes so long. */
async function publishFor(duration_ms: number, merge_ms: number | undefined): Promise<readonly Published[]> {
  const scenario = createScenario({ latency_ms: () => 0.5 })
  const { world, say, writer, decider, tell } = scenario
  const { time } = world
  const { append } = writer()
  const { turn } = decider('turn', { reconcile: foldOnly })
  const keeper = world.start('keeper')
  world.intercept(async ({ phase, process, operation, name }) => {
    if (phase === 'before' && process === 'keeper' && operation === 'put' && name.startsWith('manifests/orchestration/checkpoints/')) {
      await time.sleep(merge_ms ?? 0)
    }
  })
  let merging: Promise<unknown> | undefined
  const ends_at = time.now() + duration_ms
  await tell(async () => {
    for (let at = 0; time.now() < ends_at; at++) {
      await append([say.poolDefined('pool:x', at)])
      const { merge_due } = await turn()
      if (merge_due && merge_ms !== undefined) merging ??= merge(keeper).finally(() => (merging = undefined))
    }
    await merging
  })
  await scenario.expectInvariants()
  return world.oracle.pointers.flatMap(({ at, pointer }) => (at < ends_at ? [{ at, deltas: pointer.deltas.length }] : []))
}

const longestGap = (published: readonly Published[]): number =>
  published.reduce((longest, { at }, i) => Math.max(longest, at - (published[i - 1]?.at ?? at)), 0)
const mostDeltas = (published: readonly Published[]): number => Math.max(...published.map(({ deltas }) => deltas))

test('where nobody merges, revisions do not pile up within seconds', async () => {
  const published = await publishFor(8 * SECOND_MS, undefined)
  expect(mostDeltas(published)).toBeGreaterThan(MERGE_DUE_DELTAS)
  expect(mostDeltas(published)).toBeLessThan(DELTAS_MAX * 0.75)
}, 60_000)

test('where a merge takes ten seconds, publishes stay a fraction of a second apart', async () => {
  const published = await publishFor(14 * SECOND_MS, 10 * SECOND_MS)
  expect(mostDeltas(published)).toBeLessThan(DELTAS_MAX * 0.75)
  expect(longestGap(published)).toBeLessThan(PUBLISH_AFTER_MS)
}, 60_000)

test('where a merge takes half a second, publishes are as fast as turns', async () => {
  const published = await publishFor(3 * SECOND_MS, SECOND_MS / 2)
  expect(mostDeltas(published)).toBeGreaterThan(MERGE_DUE_DELTAS)
  expect(longestGap(published)).toBeLessThan(50)
}, 60_000)
