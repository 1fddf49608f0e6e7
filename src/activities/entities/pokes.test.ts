import { expect, test } from '@jest/globals'
import { NOW } from '../../../test/fixtures/say.js'
import { createScheduleStory, SCHEDULE_ID } from '../../../test/fixtures/schedule-story.js'
import { createVirtualTime } from '../../../test/fixtures/virtual-time.js'
import { createEntityPokes } from './pokes.js'
import { SCHEDULE_KIND } from './schedule.js'

/** Temporal answers from this instant on. */
function world({ answers_from }: { readonly answers_from: number }) {
  const time = createVirtualTime(0)
  const story = createScheduleStory()
  story.define(NOW)
  const tries: number[] = []
  const sent: string[] = []
  const send = (what: string) => async (): Promise<boolean> => {
    tries.push(time.now())
    if (time.now() < answers_from) throw new Error('Temporal does not answer')
    sent.push(what)
    return true
  }
  const said: string[] = []
  const log = (message: string) => said.push(message)
  const pokes = createEntityPokes({ kind: SCHEDULE_KIND, start: send('start'), poke: send('poke'), at_once: 2, clock: time.clock(), log })
  const publish = () => pokes.onPublish({ rows: story.story.rows, snapshot: undefined }, new Map([['SCHEDULE', [SCHEDULE_ID]]]))
  return { time, story, tries, sent, said, pokes, publish }
}

test('a poke that fails is sent again until Temporal answers, and then no more', async () => {
  const { time, story, tries, sent, said, publish } = world({ answers_from: 3_000 })
  story.status(NOW + 1, 'PAUSED')
  publish()
  await time.pass(60_000)
  expect(tries).toEqual([0, 500, 1_500, 3_500])
  expect(sent).toEqual(['poke'])
  expect(said).toEqual([])
})

test('a poke is given up after some two minutes with one line in the log, and one that comes later has tries of its own', async () => {
  const { time, story, tries, sent, said, publish } = world({ answers_from: 400_000 })
  story.status(NOW + 1, 'PAUSED')
  publish()
  await time.pass(300_000)
  expect(tries).toHaveLength(16)
  expect(tries.at(-1)).toBeLessThan(130_000)
  expect(said).toEqual([
    expect.stringMatching(/^Temporal has not taken .* schedule name-\S+ in 16 tries: Temporal does not answer\. No tick is lost/),
  ])
  await time.pass(100_000)
  story.status(NOW + 2, 'ACTIVE')
  publish()
  await time.pass(1_000)
  expect(sent).toEqual(['poke'])
})

test('a loop whose entity has only ticked is not poked', async () => {
  const { time, story, tries, publish } = world({ answers_from: 0 })
  publish()
  story.decide(NOW + 120_000)
  publish()
  await time.pass(1_000)
  expect(tries).toEqual([])
})

test('a process that ends sends nothing again', async () => {
  const { time, story, tries, said, pokes, publish } = world({ answers_from: 400_000 })
  story.status(NOW + 1, 'PAUSED')
  publish()
  await time.until(pokes.settled())
  await time.pass(100_000)
  expect(tries).toEqual([0])
  expect(said).toEqual([])
})
