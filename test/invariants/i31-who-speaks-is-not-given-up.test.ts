import { expect, test } from '@jest/globals'
import { HOUR_MS, SECOND_MS } from '../../src/core/time.js'
import { createExecutionStory } from '../simulation/execution/story.js'
import { checkLiving } from './execution-checks.js'

/** Code that beats every four seconds for a minute and a half, over APIs that come and go, each with another clock. */
async function beating(isHeard: (beat: number) => boolean) {
  const story = createExecutionStory()
  const { tell, automation, api, begin, turn, keepTurning, site, world } = story
  await tell(async () => {
    const turning = automation()
    await begin(turning, ['e'])
    site.witness.calm_since = world.time.now()
    const dispatch = story.dispatchOf('e')
    await story.start(await api('first'), dispatch)
    for (let seq = 0; seq < 22; seq++) {
      await keepTurning(turning, 4 * SECOND_MS)
      const door = await api(`api ${seq}`, { skew_ms: () => ((seq % 3) - 1) * HOUR_MS })
      if (isHeard(seq)) await story.say(door, dispatch, 'heartbeat', { seq })
    }
    await story.succeed(await api('last'), dispatch)
    await turn(turning)
  })
  return story
}

test('I31 an attempt whose worker beats is kept, by whichever API it is heard and whatever the clock of that one says', async () => {
  const { rows, expectInvariants } = await beating(() => true)
  expect(await rows('tasks')).toMatchObject([{ state: 'SUCCEEDED', attempt: 1, infra_losses: 0 }])
  await expectInvariants()
})

test('I31 an attempt is kept while no API is reached, though another worker is heard in a moment between two health checks', async () => {
  const story = createExecutionStory()
  const { tell, automation, api, begin, keepTurning, site, rows, expectInvariants } = story
  await tell(async () => {
    const turning = automation()
    await begin(turning, ['a'], ['e'])
    site.witness.calm_since = story.world.time.now()
    const [lucky, unlucky] = [story.dispatchOf('a'), story.dispatchOf('e')]
    const door = await api()
    await story.start(door, lucky)
    await story.start(door, unlucky)
    await keepTurning(turning, 4 * SECOND_MS)
    site.front.isOpen = false
    await keepTurning(turning, 8 * SECOND_MS)
    await story.say(door, lucky, 'heartbeat', { seq: 1 })
    // Past the deadline of the other one, 16 s after its start.
    await keepTurning(turning, 8 * SECOND_MS)
    site.front.isOpen = true
    for (const dispatch of [lucky, unlucky]) await story.succeed(door, dispatch)
    await keepTurning(turning, SECOND_MS)
  })
  expect(await rows('tasks')).toMatchObject([
    { state: 'SUCCEEDED', infra_losses: 0 },
    { state: 'SUCCEEDED', infra_losses: 0 },
  ])
  await expectInvariants()
})

test('I31 its check notices who was given up', async () => {
  const { rows, evidence, site } = await beating((beat) => beat < 3)
  expect(Number((await rows('tasks'))[0]?.['infra_losses'])).toBeGreaterThan(0)
  expect(checkLiving(await evidence(), site.witness)).toHaveLength(1)
})
