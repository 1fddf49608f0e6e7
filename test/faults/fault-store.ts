// A store that fails as real ones do: the fault classes F1 to F17 of LEDGER section 10 that a store or its actor can have,
// by operation, prefix and probability, from a seed. F12 (hints) is in hints.ts, kills at an exact call are in
// crash-store.ts. Three classes are no store's: F13 (several turns at once), F15 (a merge or a collection at any point)
// and F17 (mixed fold versions) are scenarios of test/simulation.

import { unavailable } from '../../src/core/errors.js'
import { sha256Hex } from '../../src/core/hash.js'
import { listName } from '../../src/core/keys.js'
import { SEGMENT_BYTES_MAX } from '../../src/core/limits.js'
import { type Clock, compareStamps } from '../../src/core/time.js'
import {
  CREATE,
  type DeleteAnswer,
  type GetAnswer,
  type ListAnswer,
  type ObjectHead,
  type ObjectStore,
  type PutAnswer,
} from '../../src/storage/object-store.js'
import type { Random } from '../fixtures/random.js'

export type Operation = 'put' | 'get' | 'head' | 'list' | 'delete'

const WRITES: readonly Operation[] = ['put', 'delete']
const ALL: readonly Operation[] = ['put', 'get', 'head', 'list', 'delete']

/** What can happen, its class, and the calls that it can happen to. */
export const FAULTS = {
  /** Nothing reaches the store. */
  fail_before: { class: 'F1', operations: ALL },
  /** The store does it, and nobody hears of it. */
  lose_answer: { class: 'F2', operations: WRITES },
  /** The caller gives up; the store does it later, whatever holds by then, the caller dead or alive. */
  apply_late: { class: 'F3', operations: WRITES },
  /** Done, lost, and done again by the client: the second try met the first. */
  refuse_after_success: { class: 'F4', operations: WRITES },
  /** 429, with or without a race for the name. */
  throttle: { class: 'F5', operations: WRITES },
  /** From here on for a while: every call that the rule is for is answered 503, done or not. */
  burst: { class: 'F6', operations: ALL },
  /** A listing breaks off between two pages. */
  fail_next_page: { class: 'F7', operations: ['list'] },
  /** A page ends just before or just after the youngest name. */
  cut_page: { class: 'F7', operations: ['list'] },
  /** The way there or back takes long. */
  delay: { class: 'F8', operations: ALL },
  /** The body is cut, or one bit of it is another. */
  damage_body: { class: 'F9', operations: ['get'] },
  kill: { class: 'F10', operations: ALL },
  /** The actor stops for minutes, before the call is made or before its answer is looked at. */
  pause: { class: 'F11', operations: ALL },
  /** 403 where another store says 412. */
  forbid: { class: 'F14', operations: WRITES },
} as const satisfies Record<string, { readonly class: string; readonly operations: readonly Operation[] }>

export type Fault = keyof typeof FAULTS

export type FaultRule = {
  readonly fault: Fault
  /** From 0 to 1, for each call that the rule is for. */
  readonly probability: number
  /** Default: every operation that the fault can happen to. */
  readonly operations?: readonly Operation[]
  /** What the name, or the prefix of a listing, begins with. */
  readonly prefix?: string
  /** For `apply_late`, `burst`, `delay` and `pause`: from and to, milliseconds. */
  readonly duration_ms?: readonly [number, number]
}

const DURATIONS_MS = {
  apply_late: [1_000, 180_000],
  burst: [1_000, 15_000],
  delay: [1, 2_000],
  pause: [60_000, 900_000],
} as const

export type FaultCall = {
  readonly number: number
  readonly actor: string
  readonly operation: Operation
  readonly name: string
  /** Those that happened to it, in order. */
  readonly faults: readonly Fault[]
}

/** What the stores of all actors share. */
export type FaultState = {
  readonly calls: FaultCall[]
  /** Last change by name, for the interval that some stores want between two. */
  readonly changed_at: Map<string, number>
  /** Writes that are still to reach the store. */
  pending: number
}

export const createFaultState = (): FaultState => ({ calls: [], changed_at: new Map(), pending: 0 })

/** From the call at which an actor is killed on, everything that it asks of the store ends so: nothing may catch it. */
export class KilledError extends Error {
  constructor(actor: string) {
    super(`${actor} was killed.`)
    this.name = 'KilledError'
  }
}

export type FaultStoreOptions = {
  readonly actor: string
  readonly random: Random
  /** For delays and pauses; its sleep may never end for an actor that is dead. */
  readonly clock: Clock
  /** The world's own, which also moves for what the dead have sent. Default: `clock`. */
  readonly world_clock?: Clock
  readonly faults: readonly FaultRule[]
  readonly state?: FaultState
  /** Shortest time between two changes of one name: what is sooner is throttled (F5). */
  readonly same_name_interval_ms?: number
  /** Called once, when the actor is killed. */
  readonly onKill?: () => void
}

export type FaultStore = ObjectStore & {
  readonly state: FaultState
  readonly isKilled: () => boolean
  /** Kills the actor between two calls. */
  readonly kill: () => void
}

type Actor = {
  readonly name: string
  readonly random: Random
  readonly clock: Clock
  readonly world_clock: Clock
  readonly rules: readonly FaultRule[]
  readonly state: FaultState
  readonly same_name_interval_ms: number
  readonly burst_until: Map<FaultRule, number>
  readonly kill: () => void
  is_killed: boolean
}

/** What is peculiar to one operation; `undefined` where the fault is none of its own. */
type Bend<Answer> = (fault: Fault) => Promise<Answer> | undefined

export function faultStore(inner: ObjectStore, options: FaultStoreOptions): FaultStore {
  const actor = createActor(inner, options)
  const { random, world_clock, state, same_name_interval_ms, kill } = actor
  return {
    label: inner.label,
    page_is_snapshot: inner.page_is_snapshot,
    same_name_interval_ms,
    state,
    isKilled: () => actor.is_killed,
    kill,
    put(name, bytes, put_options) {
      // The caller may use its buffer again before a late write is applied.
      const sent = new Uint8Array(bytes)
      const say = (kind: string) => ({ kind, server_time: world_clock.now() }) as PutAnswer
      return write(actor, 'put', name, () => inner.put(name, sent, put_options), say)
    },
    get(name) {
      const apply = () => inner.get(name)
      const bend: Bend<GetAnswer> = (fault) => (fault === 'damage_body' ? apply().then((answer) => damaged(answer, random)) : undefined)
      return call(actor, 'get', name, apply, bend)
    },
    head: (name) =>
      call(
        actor,
        'head',
        name,
        () => inner.head(name),
        () => undefined,
      ),
    list(prefix, start_after) {
      const apply = () => inner.list(prefix, start_after)
      return call(actor, 'list', prefix, apply, (fault) => {
        if (fault === 'fail_next_page' && start_after !== undefined) return Promise.reject(noAnswer(actor))
        return fault === 'cut_page' ? apply().then((answer) => cut(answer, random)) : undefined
      })
    },
    delete(name, delete_options) {
      return write(
        actor,
        'delete',
        name,
        () => inner.delete(name, delete_options),
        (kind) => ({ kind }) as DeleteAnswer,
      )
    },
  }
}

function createActor(inner: ObjectStore, options: FaultStoreOptions): Actor {
  const { actor: name, random, clock, world_clock = clock, faults: rules } = options
  const { state = createFaultState(), same_name_interval_ms = inner.same_name_interval_ms, onKill } = options
  const actor: Actor = {
    name,
    random,
    clock,
    world_clock,
    rules,
    state,
    same_name_interval_ms,
    burst_until: new Map(),
    is_killed: false,
    kill() {
      if (actor.is_killed) return
      actor.is_killed = true
      onKill?.()
    },
  }
  return actor
}

/** Waits around the call, and what becomes of it. */
async function call<Answer>(
  actor: Actor,
  operation: Operation,
  name: string,
  apply: () => Promise<Answer>,
  bend: Bend<Answer>,
): Promise<Answer> {
  const { state, random, clock } = actor
  checkAlive(actor)
  const rules = dueRules(actor, operation, name)
  state.calls.push({ number: state.calls.length + 1, actor: actor.name, operation, name, faults: rules.map(({ fault }) => fault) })
  const waits = rules.filter(({ fault }) => fault === 'delay' || fault === 'pause')
  const wait_ms = { before: 0, after: 0 }
  for (const rule of waits) wait_ms[random.isTrue(0.5) ? 'before' : 'after'] += durationOf(rule, random)
  if (wait_ms.before > 0) await clock.sleep(wait_ms.before)
  checkAlive(actor)
  const answer = await outcome(actor, rules, apply, bend)
  if (wait_ms.after > 0) await clock.sleep(wait_ms.after)
  checkAlive(actor)
  return answer
}

function checkAlive({ is_killed, name }: Actor): void {
  if (is_killed) throw new KilledError(name)
}

const dueRules = ({ rules, burst_until, clock, random }: Actor, operation: Operation, name: string): FaultRule[] =>
  rules.filter((rule) => isFor(rule, operation, name) && ((burst_until.get(rule) ?? 0) > clock.now() || random.isTrue(rule.probability)))

/** The first fault that decides the outcome; deaths and losses, which any call can have, then those of the operation. */
async function outcome<Answer>(
  actor: Actor,
  rules: readonly FaultRule[],
  apply: () => Promise<Answer>,
  bend: Bend<Answer>,
): Promise<Answer> {
  const { random, burst_until, clock } = actor
  for (const rule of rules) {
    if (rule.fault === 'kill') {
      actor.kill()
      if (random.isTrue(0.5)) await apply()
      throw new KilledError(actor.name)
    }
    if (rule.fault === 'fail_before') throw noAnswer(actor)
    if (rule.fault === 'lose_answer') return apply().then(() => Promise.reject(noAnswer(actor)))
    if (rule.fault === 'apply_late') {
      applyLate(actor, rule, apply)
      throw noAnswer(actor)
    }
    if (rule.fault === 'burst') {
      if ((burst_until.get(rule) ?? 0) <= clock.now()) burst_until.set(rule, clock.now() + durationOf(rule, random))
      if (random.isTrue(0.5)) await apply()
      throw noAnswer(actor)
    }
    const bent = bend(rule.fault)
    if (bent !== undefined) return bent
  }
  return apply()
}

function applyLate({ state, world_clock, random }: Actor, rule: FaultRule, apply: () => Promise<unknown>): void {
  state.pending += 1
  // What it comes to, nobody hears: the caller has given up.
  const done = () => void (state.pending -= 1)
  world_clock.sleep(durationOf(rule, random)).then(apply).then(done, done)
}

/** A put or a delete, and the ways in which its answer can say something else than what happened. */
function write<Answer extends PutAnswer | DeleteAnswer>(
  actor: Actor,
  operation: 'put' | 'delete',
  name: string,
  apply: () => Promise<Answer>,
  say: (kind: 'precondition_failed' | 'throttled' | 'forbidden' | 'absent') => Answer,
): Promise<Answer> {
  const { state, world_clock, random, same_name_interval_ms } = actor
  async function change(): Promise<Answer> {
    const changed_at = state.changed_at.get(name) ?? Number.NEGATIVE_INFINITY
    if (world_clock.now() - changed_at < same_name_interval_ms) return say('throttled')
    const answer = await apply()
    if (answer.kind === 'stored' || answer.kind === 'deleted') state.changed_at.set(name, world_clock.now())
    return answer
  }
  /** A lost race is answered so instead. */
  const lostRaceAs = async (kind: 'throttled' | 'forbidden') => {
    const answer = await change()
    return answer.kind === 'precondition_failed' ? say(kind) : answer
  }
  const refusedAfterSuccess = (answer: Answer): Answer =>
    answer.kind === 'stored' ? say('precondition_failed') : answer.kind === 'deleted' ? say('absent') : answer
  return call(actor, operation, name, change, (fault) => {
    if (fault === 'throttle') return random.isTrue(0.5) ? Promise.resolve(say('throttled')) : lostRaceAs('throttled')
    if (fault === 'forbid') return lostRaceAs('forbidden')
    return fault === 'refuse_after_success' ? change().then(refusedAfterSuccess) : undefined
  })
}

const isFor = ({ fault, operations = FAULTS[fault].operations, prefix = '' }: FaultRule, operation: Operation, name: string): boolean =>
  operations.includes(operation) && (FAULTS[fault].operations as readonly Operation[]).includes(operation) && name.startsWith(prefix)

function durationOf({ fault, duration_ms }: FaultRule, random: Random): number {
  const [from, to] = duration_ms ?? DURATIONS_MS[fault as keyof typeof DURATIONS_MS]
  return Math.floor(random.between(from, to))
}

const noAnswer = ({ name }: Actor) => unavailable(`The store did not answer ${name}.`)

/** The head is what was stored; whoever compares notices. */
function damaged(answer: GetAnswer, random: Random): GetAnswer {
  if (answer.kind === 'absent' || answer.bytes.length === 0) return answer
  const { length } = answer.bytes
  if (random.isTrue(0.5)) return { ...answer, bytes: answer.bytes.slice(0, random.below(length)) }
  const bytes = new Uint8Array(answer.bytes)
  const at = random.below(length)
  bytes[at] = (bytes[at] as number) ^ (1 << random.below(8))
  return { ...answer, bytes }
}

/** Where the youngest object is the first of the next page, whoever lists goes on after it became visible. */
function cut(answer: ListAnswer, random: Random): ListAnswer {
  const { objects } = answer
  if (objects.length < 2) return answer
  const youngest = objects.reduce((best, head, i) => (isYounger(head, objects[best] as ObjectHead) ? i : best), 0)
  const length = Math.min(objects.length - 1, Math.max(1, random.isTrue(0.5) ? youngest : youngest + 1))
  return { ...answer, objects: objects.slice(0, length), next: (objects[length - 1] as ObjectHead).name }
}

const isYounger = (left: ObjectHead, right: ObjectHead): boolean => compareStamps(left.creation_time, right.creation_time) > 0

/** A subset of all faults, each at a rate of its own: what one run leaves out lets another fault come further. */
export function swarmOfFaults(random: Random, probability_max = 0.05): FaultRule[] {
  return (Object.keys(FAULTS) as Fault[])
    .filter(() => random.isTrue(0.5))
    .map((fault) => ({ fault, probability: random.between(0, probability_max) }))
}

/** F16: bodies that no fold can read, as a broken writer or a stranger leaves them. */
export const POISONS = ['empty', 'no_text', 'no_json', 'other_json', 'oversized'] as const
export type Poison = (typeof POISONS)[number]

export function poisonBytes(poison: Poison, random: Random): Uint8Array {
  const encoder = new TextEncoder()
  if (poison === 'empty') return new Uint8Array(0)
  if (poison === 'no_text') return Uint8Array.from(random.bytes(64), (byte) => byte | 0x80)
  if (poison === 'no_json') return encoder.encode('{"schema":"servo-segment-v1","batches":[')
  if (poison === 'other_json') return encoder.encode('{"schema":"servo-segment-v1","batches":7}')
  oversized ??= new Uint8Array(SEGMENT_BYTES_MAX + 1).fill(0x20)
  return oversized
}

/** Made once: it is as large as a segment may be, and nobody writes into it. */
let oversized: Uint8Array | undefined

/** Leaves it under this name, as nobody's append would. */
export const plantPoison = (store: ObjectStore, name: string, poison: Poison, random: Random): Promise<PutAnswer> =>
  store.put(name, poisonBytes(poison, random), { if_generation: CREATE, meta: { schema: 'servo-segment-v1' } })

/** Names beside segments that no segment can have, as a person with a browser leaves them. They sort after every ULID, so
 *  that every listing shows them. */
export const STRAYS = ['readme.txt', 'zzz.json'] as const

/** The same stray is left again and again: whoever comes second finds it there. */
export const plantStray = (store: ObjectStore, stray: (typeof STRAYS)[number]): Promise<PutAnswer> =>
  store.put(`ledger/orchestration/${stray}`, new TextEncoder().encode('{"schema":"servo-segment-v1","batches":[]}'), {
    if_generation: CREATE,
  })

/** A list whose name is that of its content, as it should be, and whose content is no list. Answers the SHA-256. */
export async function plantUnreadableList(store: ObjectStore, random: Random): Promise<string> {
  const bytes = poisonBytes(random.pick(['empty', 'no_text', 'no_json', 'other_json'] as const), random)
  const sha256 = sha256Hex(bytes)
  await store.put(listName(sha256), bytes, { if_generation: CREATE })
  return sha256
}

/** F8: the clock of a machine that is wrong, by a number that may change while time goes on. */
export const skewedClock = (clock: Clock, skew_ms: (now: number) => number): Clock => ({
  ...clock,
  now: () => {
    const now = clock.now()
    return Math.floor(now + skew_ms(now))
  },
})
