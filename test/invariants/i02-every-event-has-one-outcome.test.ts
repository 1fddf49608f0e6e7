import { expect, test } from '@jest/globals'
import { verify } from '../../src/compactor/verify.js'
import { ulidAt } from '../../src/core/ulid.js'
import { poisonBytes } from '../faults/fault-store.js'
import { createScenario } from '../fixtures/scenario.js'

test('I2 the ledger is applied + duplicate + refused + quarantined + unfolded', async () => {
  const scenario = createScenario()
  const { world, say, writer, decider, tell, plant, rows, expectInvariants } = scenario
  const { append } = writer()
  const { turn } = decider()
  const segment = (number: number) => ulidAt(world.time.now(), Uint8Array.of(number, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  await tell(async () => {
    const defined = say.poolDefined('pool:x', 3)
    await append([defined])
    await append([{ ...defined, event_id: say.poolDefined('pool:x', 4).event_id }, say.poolDefined('pool:y', 1)])
    await append([say.runCancelRequested('run_unknown')])
    await plant(segment(1), 'no JSON at all')
    await plant(segment(2), Uint8Array.of(0xff, 0xfe, 0x00))
    const unknown = { ...say.poolDefined('pool:z', 3), event_type: 'PoolPainted' }
    const batch = { batch_id: segment(8), events: [unknown, say.poolDefined('pool:z', 3)] }
    await plant(segment(3), { schema: 'servo-segment-v1', ...world.scope, write_id: segment(9), batches: [batch] })
    await plant(segment(4), poisonBytes('oversized', world.random))
    await turn()
    await append([say.poolDefined('pool:late', 3)])
  })
  const { events, problems } = await verify({ store: world.bucket, files: world.files, scope: world.scope })
  expect(problems).toEqual([])
  expect(events).toEqual({ ledger: 10, applied: 3, duplicate: 1, refused: 1, quarantined: 4, unfolded: 1 })
  expect((await rows('quarantine')).map(({ reason }) => reason)).toEqual(['BAD_JSON', 'BAD_JSON', 'UNKNOWN_TYPE', 'TOO_LARGE'])
  await expectInvariants()
})
