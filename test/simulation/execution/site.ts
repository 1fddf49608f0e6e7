// What the processes of one seed share: where APIs and workers are to be reached just now, the weather between them, and the
// witness. Requests go through here, so that every one of them can be lost, doubled, or left without an answer.

import type { Dispatch } from '../../../src/api/contract/worker.js'
import { MINUTE_MS, SECOND_MS } from '../../../src/core/time.js'
import type { Secrets } from '../../../src/core/token.js'
import type { Process, World } from '../../fixtures/world.js'
import type { ApiDoor, WorkerDoor } from './door.js'
import type { Weather } from './weather.js'
import { createWitness, type Witness } from './witness.js'

export const SECRETS: Secrets = [{ secret_key_id: 's1', secret: 'servo-golden-secret' }]

export type Site = {
  readonly world: World
  readonly weather: Weather
  readonly witness: Witness
  /** Of those that are up; who restarts comes under its old name. */
  readonly apis: Map<string, ApiDoor>
  /** What stands before all APIs: closed, nobody reaches any of them. */
  readonly front: { isOpen: boolean }
  readonly workers: Map<string, WorkerDoor>
  /** Automations that wait for a poke. */
  readonly pokes: Map<string, () => void>
  /** Attempts that were on their way to a worker, for whoever listens. */
  readonly overheard: Dispatch[]
  /** Runs that somebody cancels next: one of their attempts was told to start, and does not know it. */
  readonly regretted: string[]
}

export const createSite = (world: World, weather: Weather): Site => ({
  world,
  weather,
  witness: createWitness(),
  apis: new Map(),
  front: { isOpen: true },
  workers: new Map(),
  pokes: new Map(),
  overheard: [],
  regretted: [],
})

/** A hint to any one automation; it may be lost, and costs no more than time. */
export function poke({ pokes, weather, world }: Site): void {
  const waiting = [...pokes.values()]
  if (waiting.length === 0 || weather.happens('poke_lost')) return
  void world.time.sleep(weather.random.below(200)).then(weather.random.pick(waiting))
}

/** Longer than anybody waits for an answer. */
const ANSWER_WITHIN_MS = 15 * SECOND_MS
const LATENCY_MS_MAX = 40
/** What overtakes nothing is late by this. */
export const LATE_MS_MAX = 2 * MINUTE_MS

export const UNANSWERED = Symbol('unanswered')

/** What stands at the other end: a process that may be gone. */
type Door = { readonly process: Process }

/** A request of one process to another, over a network that does to it what the weather says. */
export async function request<At extends Door, Answer>(
  { weather }: Site,
  from: Pick<Process, 'clock'>,
  doors: ReadonlyMap<string, At>,
  work: (door: At) => Promise<Answer>,
): Promise<Answer | typeof UNANSWERED> {
  await from.clock.sleep(weather.random.below(LATENCY_MS_MAX))
  const up = [...doors.values()]
  if (up.length === 0 || weather.happens('request_lost')) {
    await from.clock.sleep(SECOND_MS)
    return UNANSWERED
  }
  const door = weather.random.pick(up)
  const answer = work(door)
  if (weather.happens('request_doubled')) void work(weather.random.pick(up)).catch(() => undefined)
  const gone = door.process.gone.then((): typeof UNANSWERED => UNANSWERED)
  const late = from.clock.sleep(ANSWER_WITHIN_MS).then((): typeof UNANSWERED => UNANSWERED)
  const heard = await Promise.race([answer, gone, late])
  if (heard === UNANSWERED || weather.happens('answer_lost')) return UNANSWERED
  await from.clock.sleep(weather.random.below(LATENCY_MS_MAX))
  return heard
}

const NOBODY: ReadonlyMap<string, ApiDoor> = new Map()

/** A request to whichever API is to be reached. */
export const askApi = <Answer>(
  site: Site,
  from: Pick<Process, 'clock'>,
  work: (api: ApiDoor) => Promise<Answer>,
): Promise<Answer | typeof UNANSWERED> => request(site, from, site.front.isOpen ? site.apis : NOBODY, work)
