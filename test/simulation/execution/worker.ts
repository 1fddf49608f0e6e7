// A virtual worker. It keeps the protocol: code runs only after `started` was answered with 200, it beats while it runs, and
// it stops at a 409. It crashes, stalls, forgets, answers twice and late as the weather says; what its code did is written
// down by itself, and asked of nobody.

import type { SendAnswer } from '../../../src/activities/dispatch.js'
import type { Dispatch } from '../../../src/api/contract/worker.js'
import { instantMs, MINUTE_MS, SECOND_MS } from '../../../src/core/time.js'
import { ulidAt } from '../../../src/core/ulid.js'
import type { Process } from '../../fixtures/world.js'
import { type Actor, exponential } from '../actor.js'
import type { CallbackPath, Reply, WorkerDoor } from './door.js'
import { askApi, LATE_MS_MAX, type Site, UNANSWERED } from './site.js'

const SLOTS = 3
/** Attempts that it keeps until a slot is free: fewer than deploys say at times. */
const PREFETCH = 6
const STALL_MS = [10 * SECOND_MS, 4 * MINUTE_MS] as const
/** Most cancels are published in between, and an attempt has twice as long to start. */
const UNHEARD_MS = [4 * SECOND_MS, 12 * SECOND_MS] as const

export const createWorker = (site: Site, name: string, options: Actor['options']): Actor => ({
  name,
  options,
  think_ms: exponential(5 * SECOND_MS),
  begin(process) {
    const { weather, workers } = site
    const bench = createBench(site, process)
    workers.set(name, bench.door)
    void process.gone.then(() => workers.get(name) === bench.door && workers.delete(name))
    return async () => {
      if (weather.happens('worker_crashes')) process.kill()
      if (weather.isToDrain()) await bench.drain()
      if (weather.happens('worker_stalls')) bench.stall(weather.random.between(...STALL_MS))
    }
  },
})

type Bench = {
  readonly door: WorkerDoor
  readonly stall: (duration_ms: number) => void
  /** Takes nothing new, forgets what waits, and ends with what runs. */
  readonly drain: () => Promise<void>
}

/** Where one worker process has its attempts. */
function createBench(site: Site, process: Process): Bench {
  const { weather } = site
  const { clock } = process
  /** What tells each of them to stop. */
  const attempts = new Map<string, AbortController>()
  /** Dispatched ahead, in the order in which they came. */
  const waiting = new Map<string, Dispatch>()
  let isDraining = false
  let stalled_until = 0
  const hand: Hand = {
    site,
    process,
    async wait(duration_ms) {
      await clock.sleep(duration_ms)
      while (clock.elapsed() < stalled_until) await clock.sleep(stalled_until - clock.elapsed())
    },
  }
  function takeOne(dispatch: Dispatch): SendAnswer {
    const { attempt_id } = dispatch
    const isKnown = attempts.has(attempt_id) || waiting.has(attempt_id)
    if (isKnown && !weather.happens('worker_forgets')) return { answer: 'ACCEPTED' }
    if (isDraining) return { answer: 'BUSY' }
    if (attempts.size >= SLOTS) return { answer: keep(dispatch) ? 'ACCEPTED' : 'BUSY' }
    if (weather.happens('worker_is_full')) return { answer: 'BUSY' }
    if (weather.happens('worker_refuses')) return { answer: 'REFUSED', error: { code: 'UNKNOWN_ASSET', message: 'It is not here.' } }
    begin(dispatch)
    return { answer: 'ACCEPTED' }
  }
  function keep(dispatch: Dispatch): boolean {
    const { attempt_id, wait_for_slot } = dispatch
    if (wait_for_slot === undefined || waiting.size >= PREFETCH) return false
    waiting.set(attempt_id, dispatch)
    void hand.wait(wait_for_slot.ms_max).then(() => waiting.get(attempt_id) === dispatch && waiting.delete(attempt_id))
    return true
  }
  function begin(dispatch: Dispatch): void {
    const { attempt_id } = dispatch
    const told = new AbortController()
    attempts.set(attempt_id, told)
    void work(hand, dispatch, told.signal).then(() => {
      if (attempts.get(attempt_id) === told) attempts.delete(attempt_id)
      beginNext()
    })
  }
  function beginNext(): void {
    const [next] = [...waiting.values()].sort((left, right) => placeOf(left) - placeOf(right))
    if (next === undefined || attempts.size >= SLOTS) return
    waiting.delete(next.attempt_id)
    begin(next)
  }
  return {
    door: {
      process,
      async take(dispatches) {
        await hand.wait(0)
        return dispatches.map(takeOne)
      },
      async cancel(attempt_ids) {
        await hand.wait(weather.happens('cancel_late') ? weather.random.below(LATE_MS_MAX) : 0)
        if (weather.happens('cancel_unknown')) return 404
        for (const attempt_id of attempt_ids) {
          attempts.get(attempt_id)?.abort()
          waiting.delete(attempt_id)
        }
        return 200
      },
    },
    async drain() {
      isDraining = true
      waiting.clear()
      while (attempts.size > 0) await hand.wait(SECOND_MS)
      process.kill()
    },
    stall(duration_ms) {
      stalled_until = clock.elapsed() + duration_ms
    },
  }
}

const placeOf = ({ wait_for_slot }: Dispatch): number => wait_for_slot?.place ?? 0

/** What a worker does anything with: its waits take as long as the process stands still. */
type Hand = { readonly site: Site; readonly process: Process; readonly wait: (duration_ms: number) => Promise<void> }

type Said = Readonly<Record<string, unknown>>
type Heard = Reply & { readonly asked_at: number }

/** One callback, once. */
export async function say({ site, process, wait }: Hand, { attempt_id, task_token }: Dispatch, path: CallbackPath, body: Said) {
  let asked_at = site.world.time.now()
  const heard = await askApi(site, process, (api) => {
    asked_at = site.world.time.now()
    return api.callback({ path, attempt_id, task_token, body })
  })
  await wait(0)
  return heard === UNANSWERED ? undefined : { ...heard, asked_at }
}

const isFinal = (heard: Heard | undefined): heard is Heard => heard !== undefined && heard.status < 500

/** The same again until there is an answer; tries at least once. */
async function sayUntil(hand: Hand, dispatch: Dispatch, path: CallbackPath, body: Said, isDue: () => boolean) {
  for (let delay_ms = 200; ; delay_ms = Math.min(2 * delay_ms, 5 * SECOND_MS)) {
    const heard = await say(hand, dispatch, path, body)
    if (isFinal(heard)) return heard
    await hand.wait(delay_ms)
    if (!isDue()) return undefined
  }
}

async function work(hand: Hand, dispatch: Dispatch, told: AbortSignal): Promise<void> {
  const { site, process } = hand
  const { clock, random } = process
  const execution_id = newId(hand)
  const said = { execution_id, sequence: dispatch.sequence }
  const deadline = instantMs(dispatch.start_deadline_at)
  const worker_id = process.name
  if (site.weather.happens('start_unheard')) {
    await say(hand, dispatch, 'started', { ...said, worker_id })
    site.regretted.push(dispatch.run_id)
    await hand.wait(random.between(...UNHEARD_MS))
  }
  const started = await sayUntil(hand, dispatch, 'started', { ...said, worker_id }, () => clock.now() < deadline)
  if (started?.status !== 200) return
  const { run_id, task_key, attempt, attempt_id, upstream } = dispatch
  const ids = { run_id, task_key, attempt, attempt_id }
  const { asked_at } = started
  const { witness, world } = site
  const note = (what: string) => world.trace.push(`${world.time.now()} ${worker_id} ${what} the code of ${task_key}, ${attempt_id}`)
  const isToBegin = started.body['cancel'] !== true
  if (isToBegin) witness.starts.push({ ...ids, execution_id, worker: worker_id, at: world.time.now(), asked_at, upstream })
  note(isToBegin ? 'starts' : 'does not start')
  if (!isToBegin) witness.cancelled_starts.push(attempt_id)
  const end = isToBegin ? await runCode(hand, dispatch, said, told) : CANCELLED
  note(end === undefined ? 'drops' : 'ends')
  if (end === undefined) return
  const { outcome } = end
  witness.ends.push({ ...ids, execution_id, outcome, materialization_id: end.materialization_id as string | undefined })
  if (site.weather.happens('answers_late')) await hand.wait(random.below(LATE_MS_MAX))
  const gives_up_at = clock.elapsed() + 5 * MINUTE_MS
  await sayUntil(hand, dispatch, 'completed', { ...said, ...end }, () => clock.elapsed() < gives_up_at)
  if (!site.weather.happens('answers_twice')) return
  // The same again, or another end altogether: the first one stands.
  await hand.wait(random.below(20 * SECOND_MS))
  await say(hand, dispatch, 'completed', { ...said, ...(random.isTrue(0.5) ? end : endOf(hand)) })
}

export const newId = ({ process: { clock, random } }: Pick<Hand, 'process'>): string => ulidAt(Math.max(0, clock.now()), random.bytes(10))

type End = Said & { readonly outcome: string }
const CANCELLED: End = { outcome: 'CANCELLED' }

/** undefined: it was told to stop, and has nothing more to say. */
async function runCode(hand: Hand, dispatch: Dispatch, said: Said, told: AbortSignal): Promise<End | undefined> {
  const { weather } = hand.site
  const { clock, random } = hand.process
  const ends_at = clock.elapsed() + weather.codeMs(random)
  const isStubborn = random.isTrue(weather.stubborn)
  const isTold = new Promise<void>((resolve) => told.addEventListener('abort', () => resolve(), { once: true }))
  for (let seq = 0; ; seq++) {
    const left_ms = ends_at - clock.elapsed()
    if (left_ms <= 0) return endOf(hand)
    await Promise.race([hand.wait(Math.min(left_ms, dispatch.heartbeat_timeout_ms / 3)), ...(isStubborn ? [] : [isTold])])
    await hand.wait(0)
    if (told.aborted && !isStubborn) return CANCELLED
    if (clock.elapsed() >= ends_at) return endOf(hand)
    const heard = await say(hand, dispatch, 'heartbeat', { ...said, seq })
    if (heard?.status === 409) return undefined
    if (heard?.body['cancel'] === true && !isStubborn) return CANCELLED
    if (weather.happens('worker_releases')) return { outcome: 'RELEASED', error: { code: 'WORKER_DRAINED', message: 'It ends.' } }
  }
}

/** Most succeed; some fail, for good or not. */
function endOf(hand: Hand): End {
  const { random } = hand.process
  const draw = random.below(100)
  if (draw < 80) return { outcome: 'SUCCEEDED', materialization_id: newId(hand) }
  if (draw < 84) return { outcome: 'SKIPPED', skip_reason: 'nothing new' }
  const retryable = draw < 97
  const hint = draw < 87 ? { retry_after_seconds: random.below(5) } : {}
  return { outcome: 'FAILED', error: { code: 'BOOM', message: 'It broke.', retryable }, ...hint }
}
