// Asks for runs while processes die, as clients do that have to live with that: each with a key of its own, and the same
// again until there is an answer. Some ask twice, some ask for another run by a key that is taken, some change their mind.

// Clients come at their instants, and ask again after a pause.
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../../src/cli/client.js'
import type { Random } from '../fixtures/random.js'
import type { Asked } from '../system/side-effects.js'
import { GRAPHS, type GraphName } from './location.js'
import type { World } from './world.js'

type Wish = {
  readonly at_ms: number
  readonly run_key: string
  readonly graph: GraphName
  /** Two clients ask for the same at the same time. */
  readonly is_doubled: boolean
  /** Then somebody asks for another run by the same key. */
  readonly is_contested: boolean
  readonly cancel_after_ms: number | undefined
}

/** Of all runs. */
const DOUBLED = 0.1
const CONTESTED = 0.04
const CANCELLED = 0.15
const CANCEL_AFTER_MS = [0, 8_000] as const
/** Of the time: what is asked for last is under way when it is over. */
const ASKED_UNTIL = 0.93

const WEIGHTS: Readonly<Record<GraphName, number>> = { chain: 5, fan: 4, diamond: 5, narrow: 3, beating: 3, shaky: 5, broken: 2 }

export function wishesOf(random: Random, runs: number, duration_ms: number): readonly Wish[] {
  const names = Object.keys(WEIGHTS) as GraphName[]
  const urn = names.flatMap((name) => Array.from({ length: WEIGHTS[name] }, () => name))
  return Array.from({ length: runs }, (_, number): Wish => {
    const at_ms = Math.round(random.between(0, duration_ms * ASKED_UNTIL))
    const graph = random.pick(urn)
    const is_doubled = random.isTrue(DOUBLED)
    const is_contested = random.isTrue(CONTESTED)
    const cancel_after_ms = random.isTrue(CANCELLED) ? Math.round(random.between(...CANCEL_AFTER_MS)) : undefined
    return { at_ms, run_key: `run-${number}`, graph, is_doubled, is_contested, cancel_after_ms }
  })
}

const ENDS: Readonly<Record<GraphName, NonNullable<Asked['ends']>>> = {
  chain: ['SUCCEEDED'],
  fan: ['SUCCEEDED'],
  diamond: ['SUCCEEDED'],
  narrow: ['SUCCEEDED'],
  beating: ['SUCCEEDED'],
  shaky: ['SUCCEEDED', 'FAILED'],
  broken: ['FAILED'],
}

/** Between two tries of a client, and how long it tries: longer than any part is away. While all automations are dead, a run that was
 *  accepted and never folded cannot be cancelled. */
const AGAIN_MS = 500
const GIVE_UP_MS = 420_000

export type Work = {
  readonly asked: readonly Asked[]
  /** What clients saw that must not be. */
  readonly problems: readonly string[]
}

type RunAnswer = { readonly run_id: string }

export async function askForAll({ client }: Pick<World, 'client'>, wishes: readonly Wish[]): Promise<Work> {
  const began = performance.now()
  const problems: string[] = []

  async function insist<T>(what: string, call: () => Promise<T>): Promise<T | ApiError> {
    const first = performance.now()
    for (;;) {
      try {
        return await call()
      } catch (error) {
        // What the API understood and said no to gets no better by asking again.
        if (error instanceof ApiError && error.problem.status < 500 && error.problem.status !== 429) return error
        if (performance.now() - first > GIVE_UP_MS) throw new Error(`It was not possible to ${what}.`, { cause: error })
        await sleep(AGAIN_MS)
      }
    }
  }

  const ask = (run_key: string, graph: GraphName) =>
    insist(`ask for ${run_key}`, () => client.post<RunAnswer>('/runs', { selection: `group:${graph}`, run_key }))

  /** false: it is over. A run that was accepted and that no turn has seen is not there yet for those who look. */
  async function cancel(run_id: string): Promise<boolean> {
    for (;;) {
      const answer = await insist(`cancel ${run_id}`, () =>
        client.post<RunAnswer>(`/runs/${run_id}/cancel`, {}, { idempotency_key: `cancel-${run_id}` }),
      )
      if (!(answer instanceof ApiError)) return true
      if (answer.problem.status === 409) return false
      if (answer.problem.status !== 404) throw answer
      await sleep(AGAIN_MS)
    }
  }

  async function carryOut({ at_ms, run_key, graph, is_doubled, is_contested, cancel_after_ms }: Wish): Promise<Asked> {
    await sleep(Math.max(0, began + at_ms - performance.now()))
    const [first, ...others] = await Promise.all(Array.from({ length: is_doubled ? 2 : 1 }, () => ask(run_key, graph)))
    if (first === undefined || first instanceof ApiError) throw new Error(`The API refused ${run_key}.`, { cause: first })
    const { run_id } = first
    for (const other of others) {
      if (other instanceof ApiError || other.run_id !== run_id) problems.push(`${run_key} was asked for twice, and is not one run.`)
    }
    if (is_contested) {
      const other = await ask(run_key, graph === 'fan' ? 'chain' : 'fan')
      // Where no turn has seen the first request yet, the fold says no to the second.
      const isRefused = other instanceof ApiError ? other.problem.status === 409 : other.run_id === run_id
      if (!isRefused) problems.push(`${run_key} names two runs.`)
    }
    if (cancel_after_ms !== undefined) await sleep(cancel_after_ms)
    const is_cancel_accepted = cancel_after_ms !== undefined && (await cancel(run_id))
    const ends = ENDS[graph]
    return { run_key, run_id, tasks: GRAPHS[graph].length, ends: is_cancel_accepted ? [...ends, 'CANCELLED'] : ends, is_cancel_accepted }
  }

  return { asked: await Promise.all(wishes.map(carryOut)), problems }
}
