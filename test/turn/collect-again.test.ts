// A process that looks for orphans again and again reads the checkpoints that are new, and deletes what it would have deleted.

import { expect, test } from '@jest/globals'
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.js'
import { CHECKPOINTS_PREFIX } from '../../src/tables/revision.js'
import { collect, merge } from '../fixtures/roles.js'
import { createScenario } from '../fixtures/scenario.js'
import { listAll } from '../invariants/evidence.js'

test('a second look reads no checkpoint again, and leaves what a first one leaves', async () => {
  const scenario = createScenario()
  const { world, say, tell, writer, decider } = scenario
  const reads: string[] = []
  world.intercept(({ phase, process, operation, name }) => {
    if (phase === 'before' && process === 'keeper' && operation === 'get' && name.startsWith(CHECKPOINTS_PREFIX)) reads.push(name)
  })
  await tell(async () => {
    const { append } = writer()
    const { turn } = decider()
    const keeper = world.start('keeper')
    const merger = world.start('merger')
    let number = 0
    const goOn = async (rounds: number) => {
      for (let round = 0; round < rounds; round++) {
        await append([say.poolDefined(`pool:${number}`, 1 + number++)])
        await world.time.sleep(MINUTE_MS)
        await turn()
        await merge(merger, true)
      }
    }
    await goOn(8)
    await collect(keeper)
    expect(new Set(reads).size).toBeGreaterThanOrEqual(8)
    reads.splice(0)
    await collect(keeper)
    expect(reads).toEqual([])
    await goOn(2)
    await collect(keeper)
    expect(new Set(reads).size).toBe(2)
    // Those of minutes are let go after a day, and with them what nothing else reaches.
    await world.time.sleep(26 * HOUR_MS)
    await goOn(1)
    reads.splice(0)
    const { deleted_count } = await collect(keeper)
    expect(deleted_count).toBeGreaterThan(0)
    expect(reads).toHaveLength(1)
    const left = (await listAll(world.bucket, '')).map(({ name }) => name)
    await collect(world.start('another keeper'))
    expect((await listAll(world.bucket, '')).map(({ name }) => name)).toEqual(left)
  })
  await scenario.expectInvariants()
})
