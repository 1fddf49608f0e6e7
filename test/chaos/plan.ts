// What is done to whom, and when, for so many minutes: a function of the seed, so that a failure can be tried again. What the
// processes make of it is another thing: they are real, and no two runs of them are alike.

import type { Random } from '../fixtures/random.js'
import { PART_KINDS, type PartKind } from './part.js'

export type Interruption = {
  readonly at_ms: number
  readonly part: string
  /** KILL and WIPE end it, WIPE with all that it knew; STOP lets it do nothing for a while. */
  readonly what: 'KILL' | 'STOP' | 'WIPE'
  /** Until it is started again, or goes on. */
  readonly for_ms: number
}

/** From then on this share of all requests to the store goes wrong. */
export type Weather = { readonly at_ms: number; readonly rate: number }

const INCIDENT_KINDS = ['TEMPORAL_ABSENT', 'TEMPORAL_EMPTIED', 'AUTOMATIONS_DEAD', 'SECRETS_ROTATED'] as const
export type IncidentKind = (typeof INCIDENT_KINDS)[number]

/** A long trouble of all parts of a kind (incidents.ts). */
export type Incident = { readonly kind: IncidentKind; readonly at_ms: number; readonly for_ms: number }

export type Plan = {
  readonly duration_ms: number
  readonly interruptions: readonly Interruption[]
  readonly weather: readonly Weather[]
  /** One after the other; none where there is no time for all of them. */
  readonly incidents: readonly Incident[]
}

const INCIDENTS: Readonly<Record<IncidentKind, { readonly for_ms: number; readonly parts: readonly PartKind[] }>> = {
  TEMPORAL_ABSENT: { for_ms: 90_000, parts: ['temporal'] },
  TEMPORAL_EMPTIED: { for_ms: 60_000, parts: ['temporal'] },
  AUTOMATIONS_DEAD: { for_ms: 300_000, parts: ['automation'] },
  SECRETS_ROTATED: { for_ms: 80_000, parts: ['api', 'automation', 'worker'] },
}
/** Between two of them: what was away is there again, and works. */
const INCIDENT_GAP_MS = 12_000
const INCIDENTS_MS = INCIDENT_KINDS.reduce((sum, kind) => sum + INCIDENTS[kind].for_ms + INCIDENT_GAP_MS, INCIDENT_GAP_MS)

type Interrupted = { readonly kind: PartKind; readonly what: 'KILL' | 'STOP' }

/** All of these happen before any of them happens again. The store keeps its objects in memory: it is only stopped. */
const ROUND: readonly Interrupted[] = [
  { kind: 'worker', what: 'KILL' },
  { kind: 'worker', what: 'KILL' },
  { kind: 'worker', what: 'KILL' },
  { kind: 'worker', what: 'STOP' },
  { kind: 'worker', what: 'STOP' },
  { kind: 'api', what: 'KILL' },
  { kind: 'api', what: 'KILL' },
  { kind: 'api', what: 'STOP' },
  { kind: 'automation', what: 'KILL' },
  { kind: 'automation', what: 'STOP' },
  { kind: 'temporal', what: 'KILL' },
  { kind: 'temporal', what: 'STOP' },
  { kind: 'store', what: 'STOP' },
]

/** Each costs the start of a process; fewer of them leave room for work on two slow cores. */
const GAP_MS = [1_000, 5_500] as const
const WIPES = 0.3

/** Shares of all, with from and to: most are short, some are longer than every deadline of the tasks and of Temporal, and a
 *  store that is stopped longer than that is one whose callers have given up. */
type Span = readonly [share: number, from_ms: number, to_ms: number]
const DOWN_MS: readonly Span[] = [
  [0.85, 0, 4_000],
  [0.15, 4_000, 15_000],
]
const STOPPED_MS: readonly Span[] = [
  [0.5, 300, 3_000],
  [0.35, 3_000, 9_000],
  [0.15, 9_000, 25_000],
]
const STORE_STOPPED_MS: readonly Span[] = [
  [0.8, 200, 4_000],
  [0.2, 4_000, 35_000],
]
/** A minute is not spent waiting for a single part. */
const SHARE_MAX = 1 / 5

const WEATHER_MS = [4_000, 15_000] as const
const RATES = [0, 0.005, 0.01, 0.02, 0.06] as const

/** Whether there is time for them. */
export const hasIncidents = (minutes: number): boolean => minutes * 60_000 >= INCIDENTS_MS

export function planOf(random: Random, minutes: number, parts: readonly { readonly name: string; readonly kind: PartKind }[]): Plan {
  const duration_ms = minutes * 60_000
  const incidents = hasIncidents(minutes) ? incidentsOf(random.fork('incidents'), duration_ms) : []
  const isApart = (interruption: Interruption): boolean => !incidents.some((incident) => isAmid(incident, interruption, parts))
  return {
    duration_ms,
    incidents,
    interruptions: interruptionsOf(random.fork('interruptions'), duration_ms, parts).filter(isApart),
    weather: weatherOf(random.fork('weather'), duration_ms),
  }
}

/** In any order, spread over the time. */
function incidentsOf(random: Random, duration_ms: number): readonly Incident[] {
  const spare_ms = (duration_ms - INCIDENTS_MS) / INCIDENT_KINDS.length
  let at_ms = 0
  return shuffled(INCIDENT_KINDS, random).map((kind) => {
    const { for_ms } = INCIDENTS[kind]
    const incident = { kind, at_ms: Math.round(at_ms + INCIDENT_GAP_MS + random.between(0, spare_ms)), for_ms }
    at_ms = incident.at_ms + for_ms
    return incident
  })
}

/** Of a part that the incident has in hand, and at the same time: it would end the incident, or be ended by it. */
function isAmid(
  { kind, at_ms, for_ms }: Incident,
  interruption: Interruption,
  parts: readonly { readonly name: string; readonly kind: PartKind }[],
): boolean {
  const part = parts.find(({ name }) => name === interruption.part)
  if (part === undefined || !INCIDENTS[kind].parts.includes(part.kind)) return false
  return interruption.at_ms < at_ms + for_ms + INCIDENT_GAP_MS / 2 && interruption.at_ms + interruption.for_ms > at_ms - INCIDENT_GAP_MS / 2
}

function interruptionsOf(
  random: Random,
  duration_ms: number,
  parts: readonly { readonly name: string; readonly kind: PartKind }[],
): readonly Interruption[] {
  const there = ROUND.filter(({ kind }) => parts.some((part) => part.kind === kind))
  const interruptions: Interruption[] = []
  let round: Interrupted[] = []
  for (let at_ms = random.between(...GAP_MS); at_ms < duration_ms; at_ms += random.between(...GAP_MS)) {
    if (round.length === 0) round = shuffled(there, random)
    const { kind, what } = round.pop() as Interrupted
    const part = random.pick(parts.filter((each) => each.kind === kind)).name
    const spans = what === 'KILL' ? DOWN_MS : kind === 'store' ? STORE_STOPPED_MS : STOPPED_MS
    const for_ms = Math.min(drawnFrom(spans, random), duration_ms * SHARE_MAX)
    const isWipe = kind === 'temporal' && what === 'KILL' && random.isTrue(WIPES)
    interruptions.push({ at_ms: Math.round(at_ms), part, what: isWipe ? 'WIPE' : what, for_ms: Math.round(for_ms) })
  }
  return interruptions
}

function weatherOf(random: Random, duration_ms: number): readonly Weather[] {
  const weather: Weather[] = []
  for (let at_ms = 0; at_ms < duration_ms; at_ms += Math.round(random.between(...WEATHER_MS))) {
    weather.push({ at_ms, rate: random.pick(RATES) })
  }
  return weather
}

function drawnFrom(spans: readonly Span[], random: Random): number {
  let at = random.next()
  for (const [share, from_ms, to_ms] of spans) {
    at -= share
    if (at < 0) return random.between(from_ms, to_ms)
  }
  const [, from_ms, to_ms] = spans[0] as Span
  return random.between(from_ms, to_ms)
}

export function shuffled<T>(values: readonly T[], random: Random): T[] {
  const rest = [...values]
  return values.map(() => rest.splice(random.below(rest.length), 1)[0] as T)
}

export const noneOf = (): Record<PartKind, number> => Object.fromEntries(PART_KINDS.map((kind) => [kind, 0])) as Record<PartKind, number>
