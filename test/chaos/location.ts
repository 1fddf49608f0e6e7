// What the workers serve while processes die: graphs of several forms, whose code writes down, outside of the system, what it
// does. It is loaded as a user's module is, so it imports none of ours.

import { createHash } from 'node:crypto'
import { appendFileSync } from 'node:fs'
// What it sleeps for is the work of an asset that takes its time: nothing waits for a condition here.
import { setTimeout as sleep } from 'node:timers/promises'
import { asset, defineCodeLocation, type RunContext } from 'servo'

/** Where the lines go, and what is drawn from. */
export const EFFECTS_VARIABLE = 'SERVO_TEST_EFFECTS'
export const SEED_VARIABLE = 'SERVO_SEED'

/** Its cap is set apart from the definitions. */
export const NARROW_POOL = 'narrow'
export const NARROW_MAX = 2

type Step = 'start' | 'end' | 'threw' | 'stopped'

/** One write of one line to a file that is opened for appending: lines of several processes do not mix. */
function note(what: Step, { run_id, asset_key, attempt, attempt_id }: RunContext): void {
  const file = process.env[EFFECTS_VARIABLE]
  if (file === undefined) throw new Error(`Set ${EFFECTS_VARIABLE} to the file that tells what was run.`)
  const line = { what, run_id, asset_key, attempt, attempt_id, pid: process.pid, at: Date.now() }
  appendFileSync(file, `${JSON.stringify(line)}\n`)
}

/** From 0 to below 1, the same for the same attempt: `which` names what is drawn. */
const drawn = (which: string, { attempt_id }: RunContext): number =>
  createHash('sha256').update(`${process.env[SEED_VARIABLE]}/${which}/${attempt_id}`).digest().readUInt32BE() / 2 ** 32

type Manner = {
  readonly from_ms: number
  readonly to_ms: number
  /** Of all attempts: those that throw, and those that go on until they are told to stop. */
  readonly throwing?: number
  readonly hanging?: number
  /** What it throws says that trying again is of no use. */
  readonly is_final?: boolean
}

const doing =
  ({ from_ms, to_ms, throwing = 0, hanging = 0, is_final = false }: Manner) =>
  async (context: RunContext): Promise<void> => {
    note('start', context)
    const fate = drawn('fate', context)
    const isHanging = fate >= 1 - hanging
    try {
      const duration_ms = isHanging ? 3_600_000 : from_ms + drawn('duration', context) * (to_ms - from_ms)
      await sleep(duration_ms, undefined, { signal: context.signal })
    } catch (error) {
      note('stopped', context)
      throw error
    }
    if (fate < throwing) {
      note('threw', context)
      throw Object.assign(new Error('The code does not work this time.'), is_final ? { retryable: false } : {})
    }
    note('end', context)
  }

const QUICK = doing({ from_ms: 0, to_ms: 300 })

const policy = {
  // A worker that was killed is noticed soon, and however often that happens, it is nobody's fault.
  start_timeout_seconds: 5,
  heartbeat_timeout_seconds: 3,
  retry: { max_attempts: 1, max_infra_losses: 1_000, backoff_seconds: 0.1 },
}

const quick = (key: string, deps: readonly string[] = []) => asset({ ...policy, key, group: key.split('.')[0] ?? '', deps, run: QUICK })

const chain = [quick('chain.a'), quick('chain.b', ['chain.a']), quick('chain.c', ['chain.b'])]
const fan = ['a', 'b', 'c', 'd'].map((name) => quick(`fan.${name}`))
const diamond = [
  quick('diamond.top'),
  quick('diamond.left', ['diamond.top']),
  quick('diamond.right', ['diamond.top']),
  quick('diamond.bottom', ['diamond.left', 'diamond.right']),
]
const narrow = ['a', 'b', 'c'].map((name) =>
  asset({ ...policy, key: `narrow.${name}`, group: 'narrow', deps: [], pools: [NARROW_POOL], run: doing({ from_ms: 100, to_ms: 600 }) }),
)

/** A worker that says nothing for two seconds and a bit has lost these. */
const beating = ['beating.first', 'beating.second'].map((key, i, keys) =>
  asset({
    ...policy,
    key,
    group: 'beating',
    deps: keys.slice(0, i),
    heartbeat_timeout_seconds: 2,
    run: doing({ from_ms: 1_000, to_ms: 4_000 }),
  }),
)

/** Some attempts throw, and some go on until their time is up: three of them, and the task has failed. */
const shakySide = (key: string) =>
  asset({
    ...policy,
    key,
    group: 'shaky',
    deps: ['shaky.top'],
    timeout_seconds: 1.5,
    retry: { ...policy.retry, max_attempts: 3, factor: 2 },
    run: doing({ from_ms: 0, to_ms: 200, throwing: 0.3, hanging: 0.1 }),
  })
const shaky = [quick('shaky.top'), shakySide('shaky.left'), shakySide('shaky.right'), quick('shaky.bottom', ['shaky.left', 'shaky.right'])]

const broken = [
  quick('broken.first'),
  asset({
    ...policy,
    key: 'broken.second',
    group: 'broken',
    deps: ['broken.first'],
    retry: { ...policy.retry, max_attempts: 5 },
    run: doing({ from_ms: 0, to_ms: 100, throwing: 1, is_final: true }),
  }),
  quick('broken.third', ['broken.second']),
  quick('broken.beside'),
]

export const GRAPHS = { chain, fan, diamond, narrow, beating, shaky, broken } as const
export type GraphName = keyof typeof GRAPHS

export const location = defineCodeLocation({ name: 'chaos', assets: Object.values(GRAPHS).flat() })
