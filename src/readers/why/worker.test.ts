import { describe, expect, test } from '@jest/globals'
import { FULL, room, why } from '../../../test/fixtures/why-story.js'
import type { WorkerState } from './worker.js'

const SILENT: WorkerState = { kind: 'silent', why: 'connect ECONNREFUSED 127.0.0.1:1' }
const OTHER_LOCATION: WorkerState = { kind: 'health', health: { location_name: 'shop' } }
const WELL: WorkerState = { kind: 'health', health: { location_name: 'main' } }
const OLDER: WorkerState = { kind: 'health', health: { location_name: 'main', code_problem: 'a.ts could not be loaded: a.ts:3: oops.' } }

const NOBODY =
  'No worker answers the API at http://worker:1: connect ECONNREFUSED 127.0.0.1:1. Start the worker of main; where it has ended, its log or the terminal of `servo dev` says why.'
const ANOTHER = 'The worker at http://worker:1 serves shop, and not main. Start the worker of main, or deploy it with the URL of that.'
const OLD_CODE = 'The worker of main runs older code, because the code of now cannot be loaded: a.ts could not be loaded: a.ts:3: oops.'

/** Nothing is guessed where the worker itself was asked. */
const GUESSED = /: the worker of main at http:\S+ may be busy or not there, .* where there is one\./

const SLOTS = room('location:main', 8, 8, 'SLOTS')
const STATES: readonly (readonly [string, Parameters<typeof why>[0]])[] = [
  ['handed over to nobody', { task: { state: 'DISPATCHED' }, outbox: 'PENDING' }],
  ['with a worker that has not started it', { task: { state: 'DISPATCHED' }, outbox: 'ACKED' }],
  ['to be tried again', { task: { state: 'RETRY_WAIT', retry_at: Date.UTC(2030, 0), outcome_reason: 'START_DEADLINE' } }],
  ['waiting for slots that are taken', { pools: [FULL, SLOTS] }],
]

describe('a task that waits for its worker', () => {
  test.each(STATES)('is told what is wrong with it: %s', (_, given) => {
    const plain = why(given)
    expect(plain.worker_problem).toBeNull()
    for (const [worker, problem] of [
      [SILENT, NOBODY],
      [OTHER_LOCATION, ANOTHER],
      [OLDER, OLD_CODE],
    ] as const) {
      const sentence = `${plain.sentence.replace(GUESSED, ', and it is sent again and again.')} ${problem}`
      expect(why({ ...given, worker })).toEqual({ ...plain, worker_problem: problem, sentence })
    }
  })

  test.each(STATES)('is told nothing of one that is well, or that says nothing: %s', (_, given) => {
    for (const worker of [WELL, { kind: 'other' } as const]) expect(why({ ...given, worker })).toEqual(why(given))
  })
})

test('what is wrong with a worker takes the place of what may be', () => {
  const given = { task: { state: 'DISPATCHED' }, outbox: 'PENDING' }
  expect(why(given).sentence).toMatch(GUESSED)
  expect(why({ ...given, worker: SILENT }).sentence).toBe(
    `Attempt 1 of b is dispatched since 2025-01-15T10:00:06.000Z, and nobody is known to have taken it yet, and it is sent again and again. If it has not started by 2025-01-15T10:00:59.000Z, the attempt is given up. ${NOBODY}`,
  )
})

describe('a task that does not wait for its worker', () => {
  test.each([
    ['runs', { task: { state: 'RUNNING' } }],
    ['waits for a pool that others fill', { pools: [FULL] }],
    ['is dispatched by the next turn', { pools: [room('pool:open', 9, null, null)] }],
  ])('is told of older code alone: %s', (_, given) => {
    for (const worker of [SILENT, OTHER_LOCATION]) expect(why({ ...given, worker })).toEqual(why(given))
    expect(why({ ...given, worker: OLDER })).toMatchObject({ worker_problem: OLD_CODE })
  })

  test.each([
    ['is over', { task: { state: 'SUCCEEDED' } }],
    ['waits for an upstream task', { task: { state: 'BLOCKED' } }],
    ['has no worker any more', { location: null }],
  ])('is told nothing: %s', (_, given) => {
    for (const worker of [SILENT, OLDER]) expect(why({ ...given, worker })).toEqual(why(given))
  })
})
