// Turns on a store that takes one publish a second: they begin so late that they are ready when the next one may come.

import { expect, test } from '@jest/globals'
import { SECOND_MS } from '../../src/core/time.js'
import { createScenario } from '../fixtures/scenario.js'
import type { WorldOptions } from '../fixtures/world.js'

const PACED: WorldOptions = { wrap: (store) => ({ ...store, same_name_interval_ms: SECOND_MS }) }

test('what is acknowledged while a turn waits for the store is in its revision, and publishes are a second apart', async () => {
  const { say, writer, decider, tell, world, rows } = createScenario(PACED)
  const { turn } = decider('turn')
  const { append } = writer()
  const pools = async () => (await rows('pools')).map(({ pool_key }) => pool_key)
  const publishedAt = () => world.oracle.pointers.at(-1)?.at ?? 0
  await tell(async () => {
    await append([say.poolDefined('pool:a', 1)])
    await turn()
    const [first_at, count] = [publishedAt(), world.oracle.pointers.length]
    await append([say.poolDefined('pool:b', 1)])
    const paced = turn()
    await world.time.sleep(SECOND_MS / 2)
    await append([say.poolDefined('pool:c', 1)])
    await paced
    expect([world.oracle.pointers.length - count, await pools()]).toEqual([1, ['pool:a', 'pool:b', 'pool:c']])
    expect(publishedAt() - first_at).toBeGreaterThanOrEqual(SECOND_MS)
  })
})

test('a turn that comes later than that waits for nothing', async () => {
  const { say, writer, decider, tell, world } = createScenario(PACED)
  const { turn } = decider('turn')
  await tell(async () => {
    await writer().append([say.poolDefined('pool:a', 1)])
    await turn()
    await world.time.sleep(SECOND_MS)
    await writer().append([say.poolDefined('pool:b', 1)])
    const began_at = world.time.now()
    await turn()
    expect(world.time.now() - began_at).toBeLessThan(SECOND_MS)
  })
})
