// I32 over what was recorded: which instants each schedule had, by brute force from its definitions alone, against what its
// ticks say that became of them. It shares no code with the controller, the fold or the engine that counts instants.

import { type CronMeaning, instantsByRule, stretchBorders } from '../oracle/cron-rule.js'
import { type Stretch, stretchesOf } from '../oracle/zone-clock.js'
import type { Evidence, StoredEvent } from './evidence.js'

const HOUR_MS = 3_600_000
const SHOWN_MAX = 3

export type MeaningsOf = (crons: readonly string[], timezone: string) => readonly CronMeaning[] | undefined

/** A time in which a schedule had one cron in one zone: after `from`, up to `to`. */
type Regime = { readonly crons: readonly string[]; readonly timezone: string; readonly from: number; to: number }

type Decision = {
  readonly ticks: readonly { readonly at: number; readonly status: string; readonly code: string | undefined }[]
  readonly skipped: { readonly first: number; readonly last: number; readonly count: number } | undefined
}

type Schedule = {
  readonly regimes: Regime[]
  readonly decisions: Decision[]
  /** Nothing up to here is decided any more. */
  floor: number
  status: string
  looks_back: boolean
}

/** `now`: everything up to here was decided, where the schedule is active. */
export function checkSchedules(evidence: Evidence, meaningsOf: MeaningsOf, now: number): readonly string[] {
  const schedules = readSchedules(appliedEvents(evidence))
  const clocks = createClocks()
  const problems = [...schedules].flatMap(([schedule_id, schedule]) =>
    checkInstants(schedule, meaningsOf, clocks, now).map((problem) => `I32 Schedule ${schedule_id}: ${problem}`),
  )
  return [...problems, ...checkRunsOfTicks(evidence)]
}

/** In recorded order. What was refused has a row, and of a key that was said again the first one counts. */
export function appliedEvents({ revisions, ledger, live }: Evidence): readonly StoredEvent[] {
  const refused = new Set((live.get('refusals') ?? []).map(({ event_id }) => String(event_id)))
  const keys = new Set<string>()
  const applied: StoredEvent[] = []
  for (const { name } of revisions.flatMap(({ segments }) => segments)) {
    for (const event of (ledger.get(name)?.batches ?? []).flat()) {
      if (event.event_id === undefined || refused.has(event.event_id) || keys.has(event.idempotency_key ?? '')) continue
      keys.add(event.idempotency_key ?? '')
      applied.push(event)
    }
  }
  return applied
}

type Recorded = StoredEvent & { readonly timestamp?: string }

export function readSchedules(events: readonly Recorded[]): ReadonlyMap<string, Schedule> {
  const schedules = new Map<string, Schedule>()
  for (const event of events) {
    const schedule_id = String(event.payload?.['schedule_id'])
    const known = schedules.get(schedule_id)
    if (event.event_type === 'ScheduleDefined') schedules.set(schedule_id, defined(known, event))
    else if (known === undefined) continue
    else if (event.event_type === 'ScheduleStatusChanged') known.status = String(event.payload?.['to'])
    else if (event.event_type === 'ScheduleRemoved') known.status = 'REMOVED'
    else if (event.event_type === 'ScheduleTicked') noteTicks(known, event)
    if (known !== undefined && isResume(event) && !known.looks_back) known.floor = Math.max(known.floor, atOf(event))
  }
  return schedules
}

const isResume = ({ event_type, payload }: Recorded): boolean => event_type === 'ScheduleStatusChanged' && payload?.['to'] === 'ACTIVE'
const atOf = ({ timestamp }: Recorded): number => Date.parse(timestamp ?? '')

type Times = {
  readonly cron_expressions: readonly string[]
  readonly timezone: string
  readonly default_status: string
  readonly catch_up_on_resume: boolean
}

function defined(known: Schedule | undefined, event: Recorded): Schedule {
  const { cron_expressions: crons, timezone, default_status, catch_up_on_resume } = event.payload?.['definition'] as Times
  const at = atOf(event)
  if (known === undefined) {
    const regimes = [{ crons, timezone, from: at, to: at }]
    return { regimes, decisions: [], floor: at, status: default_status, looks_back: catch_up_on_resume }
  }
  known.looks_back = catch_up_on_resume
  const last = known.regimes.at(-1) as Regime
  const isSame = timezone === last.timezone && [...crons].sort().join('|') === [...last.crons].sort().join('|')
  if (isSame) return known
  // A writer's clock may be behind what was decided already: then nothing is cut off.
  last.to = Math.max(known.floor, at)
  known.floor = last.to
  known.regimes.push({ crons, timezone, from: last.to, to: last.to })
  return known
}

type StoredTick = { readonly scheduled_for: string; readonly status: string; readonly error?: { readonly code: string } }
type StoredSkip = { readonly first_scheduled_for: string; readonly last_scheduled_for: string; readonly count: number }

function noteTicks(schedule: Schedule, { payload }: Recorded): void {
  if (payload?.['kind'] !== 'CRON') return
  const ticks = payload['ticks'] as readonly StoredTick[]
  const skipped = payload['skipped'] as StoredSkip | undefined
  schedule.decisions.push({
    ticks: ticks.map(({ scheduled_for, status, error }) => ({ at: Date.parse(scheduled_for), status, code: error?.code })),
    skipped:
      skipped === undefined
        ? undefined
        : { first: Date.parse(skipped.first_scheduled_for), last: Date.parse(skipped.last_scheduled_for), count: skipped.count },
  })
  const decided = [...ticks.map(({ scheduled_for }) => scheduled_for), ...(skipped === undefined ? [] : [skipped.last_scheduled_for])]
  schedule.floor = Math.max(schedule.floor, ...decided.map((at) => Date.parse(at)))
}

type Clocks = (timezone: string, from: number, to: number) => readonly Stretch[]

/** Each zone is asked once for all that a simulation spans. */
function createClocks(): Clocks {
  const known = new Map<string, readonly Stretch[]>()
  return (timezone, from, to) => {
    const [first, last] = stretchBorders(from, to)
    const key = `${timezone} ${Math.floor(first / HOUR_MS)} ${Math.ceil(last / HOUR_MS)}`
    const stretches = known.get(key) ?? stretchesOf(timezone, Math.floor(first / HOUR_MS) * HOUR_MS, Math.ceil(last / HOUR_MS) * HOUR_MS)
    known.set(key, stretches)
    return stretches
  }
}

export function checkInstants(schedule: Schedule, meaningsOf: MeaningsOf, clocks: Clocks = createClocks(), now: number): readonly string[] {
  const { regimes, decisions, status, floor } = schedule
  const last = regimes.at(-1) as Regime
  // What is paused is owed, and what was owed when it was removed is counted by nobody. A writer's clock may be ahead.
  last.to = status === 'ACTIVE' ? Math.max(now, floor) : floor
  const wanted = new Map<number, number>()
  const problems: string[] = []
  const told = new Set<Decision['ticks'][number]>()
  for (const regime of regimes) {
    const meanings = meaningsOf(regime.crons, regime.timezone)
    if (meanings === undefined)
      problems.push(...checkUnreadable(regime, decisions, told, status === 'ACTIVE' && regime === last && now > floor + 1_000))
    else if (regime.to > regime.from) {
      const stretches = clocks(regime.timezone, regime.from, regime.to)
      for (const at of instantsByRule(meanings, stretches, regime.from + 1, regime.to + 1)) wanted.set(at, 0)
    }
  }
  const instants = [...wanted.keys()].sort((left, right) => left - right)
  for (const { ticks, skipped } of decisions) {
    const ran = new Set(ticks.filter((tick) => !told.has(tick)).map(({ at }) => at))
    const counted = skipped === undefined ? [] : instants.filter((at) => at >= skipped.first && at <= skipped.last && !ran.has(at))
    if (skipped !== undefined && counted.length !== skipped.count)
      problems.push(`${skipped.count} are counted from ${text(skipped.first)} to ${text(skipped.last)}, and there were ${counted.length}.`)
    for (const at of [...ran, ...counted]) {
      const times = wanted.get(at)
      if (times === undefined) problems.push(`${text(at)} ticked, and is no instant of it.`)
      else wanted.set(at, times + 1)
    }
  }
  const often = [...wanted].filter(([, times]) => times > 1)
  const never = status === 'REMOVED' ? [] : [...wanted].filter(([, times]) => times === 0)
  return [...problems, ...shown(often, 'ticked more than once'), ...shown(never, 'never ticked')]
}

/** One tick says that it cannot be read; who has had the time for it says it. */
function checkUnreadable(
  { from, to, crons, timezone }: Regime,
  decisions: readonly Decision[],
  told: Set<Decision['ticks'][number]>,
  isDue: boolean,
): readonly string[] {
  const faults = decisions.flatMap(({ ticks }) => ticks).filter(({ at, code }) => code === 'BAD_CRON' && at > from && at <= to)
  for (const fault of faults) told.add(fault)
  if (faults.length > 1 || (isDue && faults.length === 0))
    return [`${faults.length} ticks say that ${crons.join(' and ')} in ${timezone} cannot be read, since ${text(from)}.`]
  return []
}

const text = (at: number): string => new Date(at).toISOString()

function shown(instants: readonly (readonly [number, number])[], what: string): readonly string[] {
  if (instants.length === 0) return []
  const first = instants.slice(0, SHOWN_MAX).map(([at]) => text(at))
  return [`${instants.length} instants ${what}: ${first.join(', ')}${instants.length > SHOWN_MAX ? ' and more' : ''}.`]
}

/** The run key is the evidence: what ticked has its run, and no run is of an instant that did not tick. */
function checkRunsOfTicks({ live }: Evidence): readonly string[] {
  const ticks = new Map((live.get('schedule_ticks') ?? []).map((tick) => [String(tick['tick_id']), tick]))
  const runs = (live.get('runs') ?? []).filter(({ trigger_type }) => trigger_type === 'SCHEDULE')
  const keys = new Set(runs.map(({ run_key }) => String(run_key)))
  const strays = runs.filter(({ tick_id }) => ticks.get(String(tick_id))?.['status'] !== 'TRIGGERED')
  const missing = [...ticks.values()].filter(
    ({ kind, status, run_key }) => kind === 'CRON' && status === 'TRIGGERED' && !keys.has(String(run_key)),
  )
  return [
    ...strays.map(({ run_id, tick_id }) => `I32 Run ${String(run_id)} is of ${String(tick_id)}, which did not tick.`),
    ...missing.map(({ tick_id, run_key }) => `I32 ${String(tick_id)} ticked, and no run has its key ${String(run_key)}.`),
  ]
}
