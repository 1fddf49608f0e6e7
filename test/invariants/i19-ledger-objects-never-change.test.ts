import { expect, test } from '@jest/globals'
import { createScenario } from '../fixtures/scenario.js'

test('I19 two writers that append the same keys in the same instant leave one object, and both are told', async () => {
  const { say, writer, decider, tell, world, expectInvariants } = createScenario()
  const batch = [say.poolDefined('pool:x', 3)]
  const answers = await tell(() => Promise.all([writer('one').append(batch), writer('two').append(batch), writer('three').append(batch)]))
  expect(answers.map(({ kind }) => kind).sort()).toEqual(['appended', 'duplicate', 'duplicate'])
  expect(new Set(answers.map(({ head }) => head.generation)).size).toBe(1)
  expect(world.oracle.ledger.size).toBe(1)
  expect((await tell(() => decider().turn())).counts.applied).toBe(1)
  await expectInvariants()
})

test('I19 the same keys with another payload do not replace what is stored', async () => {
  const { say, writer, decider, tell, row, expectInvariants } = createScenario()
  const kinds = await tell(async () => {
    const first = await writer('one').append([say.poolDefined('pool:x', 3, { request: 'r' })])
    const second = await writer('two').append([say.poolDefined('pool:x', 4, { request: 'r' })])
    await decider().turn()
    return [first.kind, second.kind]
  })
  expect(kinds).toEqual(['appended', 'duplicate'])
  expect(await row('pools', 'pool:x')).toMatchObject({ max_running: 3 })
  await expectInvariants()
})
