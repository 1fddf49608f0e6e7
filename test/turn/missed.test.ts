// The look through the listing window: what it finds, what it remembers, and how little it reads when nothing is late.

import { describe, expect, test } from '@jest/globals'
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.js'
import { ulidAt } from '../../src/core/ulid.js'
import { fillPages } from '../fixtures/full-pages.js'
import { findMissed, pack } from '../fixtures/roles.js'
import { createScenario, type Scenario } from '../fixtures/scenario.js'
import { REVISIONS } from '../fixtures/volumes.js'
import type { Process } from '../fixtures/world.js'

/** Runs of minutes, each with a segment and the turn that folds it. */
async function publish({ world, say, writer, decider }: Scenario, minutes: number): Promise<void> {
  const { append } = writer()
  const { turn } = decider()
  for (let minute = 0; minute < minutes; minute++) {
    await append([say.poolDefined('pool:x', 1 + minute)])
    await turn()
    await world.time.sleep(MINUTE_MS)
  }
}

async function lookCounting({ world }: Scenario, process: Process): Promise<{ readonly missed: string[]; readonly reads: number }> {
  let reads = 0
  let isOver = false
  world.intercept(({ phase, process: name, operation, name: object }) => {
    if (!isOver && phase === 'before' && name === process.name && operation === 'get' && object.startsWith(REVISIONS)) reads += 1
  })
  const missed = await findMissed(world, process)
  isOver = true
  return { missed, reads }
}

const LATE = { schema: 'servo-segment-v1', batches: [] }

describe('the look through the window', () => {
  test('reads the revisions of what came since the one before it', async () => {
    const scenario = createScenario()
    const { world, tell } = scenario
    await tell(async () => {
      const keeper = world.start('keeper')
      await publish(scenario, 50)
      const first = await lookCounting(scenario, keeper)
      const second = await lookCounting(scenario, keeper)
      await publish(scenario, 3)
      const third = await lookCounting(scenario, keeper)
      expect([first.missed, second.missed, third.missed]).toEqual([[], [], []])
      expect(first.reads).toBeGreaterThan(40)
      expect(second.reads).toBeLessThan(5)
      expect(third.reads).toBeLessThan(25)
    })
  })

  test('finds what lands in a minute that it has looked at before, again and again until it is folded', async () => {
    const scenario = createScenario()
    const { world, tell, plant, decider, expectInvariants } = scenario
    await tell(async () => {
      const keeper = world.start('keeper')
      await publish(scenario, 30)
      expect(await findMissed(world, keeper)).toEqual([])
      const late = ulidAt(world.time.now() - 20 * MINUTE_MS, new Uint8Array(10).fill(7))
      await plant(late, { ...LATE, ...world.scope, write_id: late })
      await publish(scenario, 2)
      expect(await findMissed(world, keeper)).toEqual([late])
      expect(await findMissed(world, keeper)).toEqual([late])
      await decider().turn({ missed: [late] })
      expect(await findMissed(world, keeper)).toEqual([])
    })
    await expectInvariants()
  })

  test('takes nothing for missed that was folded long after it was made, or that lies in packs', async () => {
    const scenario = createScenario()
    const { world, tell, writer, say, decider, expectInvariants } = scenario
    await tell(async () => {
      const keeper = await fillPages(scenario, 2)
      expect(await findMissed(world, keeper)).toEqual([])
      await writer().append([say.poolDefined('pool:late', 1)])
      await world.time.sleep(HOUR_MS - 10 * MINUTE_MS)
      await decider().turn()
      await world.time.sleep(11 * MINUTE_MS)
      await pack(keeper)
      expect(await findMissed(world, keeper)).toEqual([])
      expect(await findMissed(world, world.start('another'))).toEqual([])
    })
    await expectInvariants()
  })

  test('takes nothing for missed that a process folded whose machine was suspended during the turn', async () => {
    const scenario = createScenario()
    const { world, tell, writer, say, decider, expectInvariants } = scenario
    await tell(async () => {
      await publish(scenario, 3)
      const { append } = writer('awake')
      let suspended_ms = 0
      const sleeper = decider('suspended', { suspended_ms: () => suspended_ms })
      // Its turn knows the time, and has listed nothing yet.
      const wake = world.intercept(async ({ phase, process, operation }) => {
        if (phase !== 'before' || process !== 'suspended' || operation !== 'list' || suspended_ms > 0) return
        suspended_ms = 20 * MINUTE_MS
        await world.time.sleep(suspended_ms)
        await append([say.poolDefined('pool:late', 1)])
      })
      await sleeper.turn()
      wake()
      expect(suspended_ms).toBeGreaterThan(0)
      // The look begins behind the segments that tell where the revision lies.
      await world.time.sleep(2 * HOUR_MS - 10 * MINUTE_MS)
      await publish(scenario, 1)
      expect(await findMissed(world, world.start('keeper'))).toEqual([])
    })
    await expectInvariants()
  })
})
