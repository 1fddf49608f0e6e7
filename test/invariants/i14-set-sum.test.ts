import { expect, test } from '@jest/globals'
import { verify } from '../../src/compactor/verify.js'
import { createScenario } from '../fixtures/scenario.js'

test('I14 the set-sum of the ledger is that of the revisions and the tail, and a lost segment is noticed', async () => {
  const { say, writer, decider, tell, world, expectInvariants } = createScenario()
  const { append } = writer()
  const heads = await tell(async () => {
    const folded = [await append([say.poolDefined('pool:x', 1)]), await append([say.poolDefined('pool:y', 1)])]
    await decider().turn()
    await append([say.poolDefined('pool:z', 1)])
    return folded.map(({ head }) => head)
  })
  await expectInvariants()
  const deps = { store: world.bucket, files: world.files, scope: world.scope }
  expect((await verify(deps)).problems).toEqual([])
  const [lost] = heads
  await world.bucket.delete(lost?.name ?? '', { if_generation: lost?.generation ?? '' })
  expect((await verify(deps)).problems.join()).toContain('is not in the ledger any more')
})
