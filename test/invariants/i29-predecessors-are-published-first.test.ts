import { expect, test } from '@jest/globals'
import { createExecutionStory } from '../simulation/execution/story.js'
import { checkOrder } from './execution-checks.js'

test('I29 of a diamond each task is handed over once what it needs is published, whichever call a turn dies at', async () => {
  for (let at = 1; ; at++) {
    const story = createExecutionStory()
    const { tell, automation, api, begin, turn, world, out, rows, expectInvariants } = story
    let isKilled = false
    await tell(async () => {
      const turning = automation()
      await begin(turning, ['a', 'b', 'c', 'd'])
      const door = await api()
      const work = async (task_key: string) => {
        await story.start(door, story.dispatchOf(task_key))
        await story.succeed(door, story.dispatchOf(task_key))
      }
      await work('a')
      const doomed = automation('doomed')
      const begun = world.callCount()
      const stop = world.intercept((call) => {
        if (call.process !== 'doomed' || call.phase !== 'after' || call.number !== begun + at) return
        isKilled = true
        call.kill()
      })
      await Promise.race([turn(doomed), doomed.process.gone])
      stop()
      // Whatever it left behind: nobody has b or c whose run does not show a as a success.
      const states = new Map((await rows('tasks')).map(({ task_key, state }) => [task_key, state]))
      const isHandedOver = out.some(({ task_key }) => task_key === 'b' || task_key === 'c')
      expect([isHandedOver && states.get('a') !== 'SUCCEEDED', out.some(({ task_key }) => task_key === 'd')]).toEqual([false, false])
      await turn(turning)
      // What the dead one published and handed to nobody.
      await world.time.sleep(6_000)
      await turning.hand_over.sweep()
      await work('b')
      await turn(turning)
      expect(out.some(({ task_key }) => task_key === 'd')).toBe(false)
      await work('c')
      await turn(turning)
      await work('d')
      await turn(turning)
    })
    expect((await rows('runs')).map(({ state }) => state)).toEqual(['SUCCEEDED'])
    await expectInvariants()
    if (!isKilled) return
    expect(at).toBeLessThan(80)
  }
})

test('I29 its check notices code that started before its predecessor was published', async () => {
  const story = createExecutionStory()
  const { tell, automation, api, begin, turn, world, site, evidence } = story
  await tell(async () => {
    const turning = automation()
    await begin(turning, ['a', 'b'])
    const door = await api()
    await story.start(door, story.dispatchOf('a'))
    await story.succeed(door, story.dispatchOf('a'))
    await turn(turning)
    await story.start(door, story.dispatchOf('b'))
    await story.succeed(door, story.dispatchOf('b'))
    await turn(turning)
  })
  const { starts } = site.witness
  expect(checkOrder(await evidence(), site.witness)).toEqual([])
  const published_at = world.oracle.pointers.at(-2)?.at ?? 0
  const early = starts.map((start) => ({ ...start, at: Math.min(start.at, published_at - 1) }))
  expect(checkOrder(await evidence(), { ...site.witness, starts: early }).filter((text) => text.startsWith('I29'))).toHaveLength(1)
  const untold = starts.map((start) => ({ ...start, upstream: {} }))
  expect(checkOrder(await evidence(), { ...site.witness, starts: untold })).toHaveLength(1)
})
