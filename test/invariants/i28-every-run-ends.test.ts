import { expect, test } from '@jest/globals'
import type { Dispatch } from '../../src/api/contract/worker.js'
import { MINUTE_MS } from '../../src/core/time.js'
import type { ApiDoor } from '../simulation/execution/door.js'
import { createExecutionStory, type ExecutionStory } from '../simulation/execution/story.js'
import { checkEnds } from './execution-checks.js'

type Behaviour = (story: ExecutionStory, door: ApiDoor, dispatch: Dispatch) => Promise<unknown>

/** Workers of which nobody ever hears that an attempt is over; each dispatch is handed to them once. */
const WORKERS: Readonly<Record<string, Behaviour>> = {
  'that never start': async () => undefined,
  'that start, and are silent': (story, door, dispatch) => story.start(door, dispatch),
  'that give everything back': async (story, door, dispatch) => {
    await story.start(door, dispatch)
    await story.say(door, dispatch, 'completed', { outcome: 'RELEASED' })
  },
  'that fail, each time': async (story, door, dispatch) => {
    await story.start(door, dispatch)
    await story.say(door, dispatch, 'completed', { outcome: 'FAILED', error: { code: 'BOOM', message: 'It broke.' } })
  },
}

test.each(Object.entries(WORKERS))('I28 a run ends with workers %s', async (_, work) => {
  const story = createExecutionStory()
  const { tell, automation, api, begin, turn, out, world, rows, expectInvariants } = story
  await tell(async () => {
    const turning = automation()
    await begin(turning, ['e', 'f'])
    const door = await api()
    const until = world.time.now() + 30 * MINUTE_MS
    for (let seen = 0; world.time.now() < until; await world.time.sleep(1_000)) {
      for (; seen < out.length; seen++) void work(story, door, out[seen] as Dispatch)
      await turn(turning)
      if ((await rows('runs')).every(({ state }) => state === 'FAILED')) return
    }
  })
  expect(await rows('tasks')).toMatchObject([
    { task_key: 'e', state: 'FAILED' },
    { task_key: 'f', state: 'SKIPPED' },
  ])
  await expectInvariants()
})

test('I28 a run ends with workers that refuse what they are handed', async () => {
  const { tell, automation, begin, turn, answerHandOver, rows, world, expectInvariants } = createExecutionStory()
  answerHandOver({ answer: 'REFUSED', error: { code: 'UNKNOWN_ASSET', message: 'It is not here.' } })
  await tell(async () => {
    const turning = automation()
    await begin(turning, ['e'])
    const until = world.time.now() + 30 * MINUTE_MS
    while (world.time.now() < until && (await rows('runs'))[0]?.['state'] !== 'FAILED') {
      await world.time.sleep(1_000)
      await turn(turning)
    }
  })
  expect(await rows('tasks')).toMatchObject([{ task_key: 'e', state: 'FAILED', infra_losses: 5 }])
  await expectInvariants()
})

test('I28 its check names a run and a task that are not over', async () => {
  const { tell, automation, begin, evidence } = createExecutionStory()
  await tell(() => begin(automation(), ['e', 'f']))
  expect(checkEnds(await evidence())).toHaveLength(3)
})
