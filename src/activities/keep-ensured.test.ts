import { expect, test } from '@jest/globals'
import { createVirtualTime } from '../../test/fixtures/virtual-time.js'
import { keepEnsured } from './keep-ensured.js'

function world(answers: readonly (readonly string[] | Error)[]) {
  const time = createVirtualTime(0)
  const looked_at: number[] = []
  const logged: string[] = []
  let pokes = 0
  const keeping = keepEnsured({
    clock: time.clock(),
    async ensure() {
      const answer = answers[looked_at.length] ?? []
      looked_at.push(time.now())
      if (answer instanceof Error) throw answer
      return answer
    },
    async poke() {
      pokes += 1
    },
    log: (message) => logged.push(message),
  })
  return { time, looked_at, logged, pokes: () => pokes, keeping }
}

test('loops that were lost under a running process are started within twenty seconds, and said', async () => {
  const { time, looked_at, logged, pokes, keeping } = world([[], ['workspace']])
  await time.pass(45_000)
  keeping.stop()
  expect(looked_at).toEqual([0, 20_000, 40_000])
  expect(logged).toEqual(['The workspace loop was not running, and was started.'])
  expect(pokes()).toBe(1)
})

test('a look that failed is followed by another soon, and told of once', async () => {
  const down = new Error('Temporal does not answer')
  const { time, looked_at, logged, pokes, keeping } = world([down, down, ['workspace', 'maintenance']])
  await time.pass(5_000)
  keeping.stop()
  expect(looked_at).toEqual([0, 2_000, 4_000])
  expect(logged).toEqual([
    'The loops could not be looked after now, and will be again in a moment: Temporal does not answer',
    'The workspace loop was not running, and was started.',
    'The maintenance loop was not running, and was started.',
  ])
  expect(pokes()).toBe(0)
})

test('loops that outlived a Temporal that did not answer are poked, for nobody could do it meanwhile', async () => {
  const down = new Error('Temporal does not answer')
  const { time, pokes, keeping } = world([[], down, [], []])
  await time.pass(70_000)
  keeping.stop()
  expect(pokes()).toBe(2)
})

test('one who stopped looks no more', async () => {
  const { time, looked_at, keeping } = world([])
  await time.pass(1_000)
  keeping.stop()
  await time.pass(60_000)
  expect(looked_at).toEqual([0])
})
