// Secrets are rotated while runs are asked for all the time: a new one is accepted everywhere before anybody uses it. In
// whatever order the processes are restarted within a step, nothing is refused, nothing is tried again, and no id is wrong.

import { afterEach, describe, expect, test } from '@jest/globals'
import { type Installation, type PartName, type Settings, startInstallation } from '../fixtures/installation.js'
import { until } from '../fixtures/until.js'

const TIMEOUT_MS = 180_000
const CLIENTS = 3

const FIRST: Settings = {
  secrets: 'k0:a-secret-of-the-tests-0',
  worker_secrets: 'w0:a-worker-secret-of-the-tests-0',
  api_token: 'an-api-token-of-the-tests-0',
}

let installation: Installation
let ends = false
let load: Promise<readonly string[]>
afterEach(async () => {
  ends = true
  await installation.stop()
  await load.catch(() => undefined)
})

/** Answers the ids of all runs that were asked for. */
async function keepAsking(): Promise<readonly string[]> {
  ends = false
  const ids: string[] = []
  const ask = async () => {
    while (!ends) ids.push(await installation.work())
  }
  await Promise.all(Array.from({ length: CLIENTS }, ask))
  return ids
}

/** Fails where somebody who asks for work does. */
const whileAsking = <T>(work: Promise<T>): Promise<T> =>
  Promise.race([work, load.then((): never => expect('the load to go on') as never)]) as Promise<T>

const ranMore = (count: number): Promise<unknown> => {
  const before = installation.ran.length
  return whileAsking(until(`${count} more runs have run`, () => installation.ran.length >= before + count))
}

function* ordersOf<T>(values: readonly T[]): Generator<readonly T[]> {
  if (values.length === 0) yield []
  for (const [index, value] of values.entries())
    for (const rest of ordersOf([...values.slice(0, index), ...values.slice(index + 1)])) yield [value, ...rest]
}

/** Two of a kind are alike: which of them comes first is no other order. */
function differentOrdersOf(names: readonly PartName[]): readonly (readonly PartName[])[] {
  const kindsOf = (order: readonly PartName[]) => order.map((name) => name.split(' ')[0]).join()
  return [...new Map([...ordersOf(names)].map((order) => [kindsOf(order), order])).values()]
}

/** What a part that ends leaves to others is said too, and is no fault. */
const OF_SECRETS = /401|403|refused|signature|signed|secret|token/i

async function expectNothingLost(): Promise<void> {
  ends = true
  const ids = await load
  expect(installation.said.filter((line) => OF_SECRETS.test(line))).toEqual([])
  expect([...installation.ran].sort()).toEqual([...ids].sort())
  await until('all runs are over', async () => (await installation.look('runs')).every(({ state }) => state === 'SUCCEEDED'))
  const [runs, tasks] = [await installation.look('runs'), await installation.look('tasks')]
  expect(runs.map(({ run_id }) => run_id).sort()).toEqual([...ids].sort())
  expect(new Set(tasks.map(({ attempt, infra_losses }) => `${attempt} ${infra_losses}`))).toEqual(new Set(['1 0']))
  expect(await installation.look('run_key_conflicts')).toEqual([])
}

type Rotated = {
  readonly setting: keyof Settings
  readonly restarted: readonly PartName[]
  readonly nth: (n: number) => string
}

const ROTATED: readonly Rotated[] = [
  {
    setting: 'secrets',
    restarted: ['api one', 'api two', 'automation one', 'automation two'],
    nth: (n) => `k${n}:a-secret-of-the-tests-${n}`,
  },
  {
    setting: 'worker_secrets',
    restarted: ['automation one', 'automation two', 'worker'],
    nth: (n) => `w${n}:a-worker-secret-of-the-tests-${n}`,
  },
  { setting: 'api_token', restarted: ['api one', 'api two', 'client'], nth: (n) => `an-api-token-of-the-tests-${n}` },
]

describe('a rotation under load loses nothing, in any order of restarts', () => {
  test.each(ROTATED)(
    'of $setting',
    async ({ setting, restarted, nth }) => {
      installation = await startInstallation(FIRST)
      load = keepAsking()
      await ranMore(CLIENTS)
      let n = 0
      for (const order of differentOrdersOf(restarted)) {
        const [old, next] = [nth(n), nth(n + 1)]
        // Accepted, then used; and when nothing is under way that the old one was used for, the old one is left out.
        for (const value of [`${old},${next}`, `${next},${old}`, next]) {
          for (const name of order) {
            await whileAsking(installation.restart(name, { ...FIRST, [setting]: value }))
            await ranMore(1)
          }
          // Of each client the request that was under way is over.
          await ranMore(2 * CLIENTS)
        }
        n += 1
      }
      await expectNothingLost()
    },
    TIMEOUT_MS,
  )
})

test(
  'a key that is used before it is accepted loses nothing either, but nothing runs until it is, and the log says why',
  async () => {
    installation = await startInstallation(FIRST)
    load = keepAsking()
    await ranMore(CLIENTS)
    const wrong = { ...FIRST, secrets: `k1:a-secret-of-the-tests-1,${FIRST.secrets}` }
    for (const name of ['automation one', 'automation two'] as const) await installation.restart(name, wrong)
    const words = /It was made with the key k1, which SERVO_SECRETS of this process does not have/
    await until('an API says which key it lacks', () => installation.said.some((line) => words.test(line)))
    expect(installation.said.filter((line) => line.includes('a-secret-of'))).toEqual([])
    for (const name of ['api one', 'api two'] as const) await installation.restart(name, wrong)
    installation.said.length = 0
    // What was dropped is sent again after three seconds.
    await ranMore(2 * CLIENTS)
    installation.said.length = 0
    await expectNothingLost()
  },
  TIMEOUT_MS,
)

test('a token that was left out opens nothing any more', async () => {
  installation = await startInstallation(FIRST)
  load = keepAsking()
  const next = 'an-api-token-of-the-tests-1'
  for (const name of ['api one', 'api two', 'client'] as const)
    await installation.restart(name, { ...FIRST, api_token: `${FIRST.api_token},${next}` })
  expect([await installation.statusOf(FIRST.api_token), await installation.statusOf(next)]).toEqual([200, 200])
  for (const name of ['client', 'api one', 'api two'] as const) await installation.restart(name, { ...FIRST, api_token: next })
  expect([await installation.statusOf(FIRST.api_token), await installation.statusOf(next)]).toEqual([401, 200])
  await ranMore(1)
})
