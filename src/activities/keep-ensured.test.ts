import { expect, test } from '@jest/globals'
import { createVirtualTime, type VirtualTime } from '../../test/fixtures/virtual-time.js'
import { keepEnsured } from './keep-ensured.js'

const clockOf = (time: VirtualTime, closed: AbortSignal) => {
  const { sleep } = time.clock()
  return { sleep: (duration_ms: number) => sleep(duration_ms, closed) }
}

/** Answers of looks: the loops that were started, `moving`, or an error. */
function world(answers: readonly (readonly string[] | 'moving' | Error)[]) {
  const time = createVirtualTime(0)
  const looked_at: number[] = []
  const logged: string[] = []
  let pokes = 0
  const closing = new AbortController()
  const failures: unknown[] = []
  void keepEnsured({
    clock: clockOf(time, closing.signal),
    closed: closing.signal,
    async ensure() {
      const answer = answers[looked_at.length] ?? []
      looked_at.push(time.now())
      if (answer instanceof Error) throw answer
      return answer === 'moving' ? { started: [], is_moving: true } : { started: answer, is_moving: false }
    },
    async poke() {
      pokes += 1
    },
    log: (message) => logged.push(message),
    onLooked: (error) => failures.push(error),
  })
  return { time, looked_at, logged, failures, pokes: () => pokes, keeping: { stop: () => closing.abort() } }
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
  const { time, looked_at, logged, failures, pokes, keeping } = world([down, down, ['workspace', 'maintenance']])
  await time.pass(7_000)
  keeping.stop()
  expect(looked_at).toEqual([0, 2_000, 6_000])
  expect(failures).toEqual([down, down, undefined])
  expect(logged).toEqual([
    'The loops could not be looked after now, and will be again in a moment: Temporal does not answer',
    'The workspace loop was not running, and was started.',
    'The maintenance loop was not running, and was started.',
  ])
  expect(pokes()).toBe(0)
})

test('looks at a Temporal that stays away are ten seconds apart at last, and soon again after the next loss', async () => {
  const down = new Error('Temporal does not answer')
  const { time, looked_at, keeping } = world([down, down, down, down, down, [], down, down])
  await time.pass(60_000)
  keeping.stop()
  expect(looked_at).toEqual([0, 2_000, 6_000, 14_000, 24_000, 34_000, 54_000, 56_000, 60_000])
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

test('while loops move to another queue it looks again soon', async () => {
  const { time, looked_at, keeping } = world(['moving', 'moving', [], []])
  await time.pass(30_000)
  keeping.stop()
  expect(looked_at).toEqual([0, 3_000, 6_000, 26_000])
})
