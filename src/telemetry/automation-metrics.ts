// What the automation counts: what its turns made visible, how long they took, what workers answered, what was mended.
// Each publish is counted by the one process that won it, so that the sum over processes is what happened.

import { HEALTH_STATES, type HealthReport, NEEDS, type Need } from './health.js'
import { addWriterMetrics, type MetricsRegistry, openRegistry, seriesOf } from './metrics.js'
import { addTallyMetrics, type TalliedMetric, type Tally } from './tally-metrics.js'
import { addTriggerMetrics } from './trigger-metrics.js'

type Published = {
  readonly counts: { readonly applied: number; readonly duplicate: number; readonly refused: number; readonly quarantined: number }
  readonly fold_delays_ms: readonly number[]
  readonly tally: Tally
}

type Ended = { readonly outcome: 'published' | 'quiet' | 'failed'; readonly duration_ms: number; readonly rounds: number }
type Answer = {
  readonly answer: string
  readonly outbox_status: string
  readonly was_there: boolean
  readonly waited_for_room: boolean
}
type Mended = (typeof MENDED)[number]

const SENDS = ['first', 'again'] as const
const ANSWERS = ['ACCEPTED', 'BUSY', 'UNREACHABLE', 'BLOCKED', 'REFUSED']
/** Each has an entry in docs/operating.md. */
export const MENDED = [
  'attempt_sent_again',
  'dispatch_late',
  'hot_state',
  'late_segment',
  'loop_started',
  'plan_late',
  'poke_missed',
  'wake_missed',
] as const

export type AutomationMetrics = ReturnType<typeof createAutomationMetrics>

/** `tallied`: the metrics that are made of what publishes show; given, because nothing here knows what Servo is about. */
export function createAutomationMetrics(tallied: readonly TalliedMetric[]) {
  const registry = openRegistry()
  const published = addPublishMetrics(registry, tallied)
  addTriggerMetrics(registry)
  const turns = registry.seconds(
    'servo_turn_duration_seconds',
    'Time of a turn, by what became of it; failed: an error, or too many races lost.',
    seriesOf('outcome', ['published', 'quiet', 'failed']),
  )
  const rounds = registry.smallCount('servo_turn_rounds', 'How often controllers spoke in a turn that did not fail.')
  const answers = registry.counter(
    'servo_handover_answers_total',
    'What became of attempts that were sent, by whether it was the first time or by the sweep.',
    SENDS.flatMap((send) => ANSWERS.map((answer) => ({ send, answer }))),
  )
  const state = registry.flags(
    'servo_automation_state',
    'What the automation does now; waiting: it cannot work, and tries again until it can.',
    'state',
    HEALTH_STATES,
  )
  const needs = registry.flags(
    'servo_automation_missing',
    'What the automation lacks now: Temporal, its namespace or search attributes there, the store, or something else.',
    'needs',
    NEEDS,
  )
  const sessionsLost = registry.counter(
    'servo_automation_sessions_lost_total',
    'Times that the automation had to let go of its connection and workers, and began again, by what was missing.',
    seriesOf('needs', NEEDS),
  )
  const repairs = registry.counter('servo_repairs_total', 'What was found stuck or missing, and set going again.', seriesOf('kind', MENDED))
  const mended = (kind: Mended, count: number): void => (count > 0 ? repairs({ kind }, count) : undefined)
  return {
    ...addWriterMetrics(registry),
    ...published,
    text: (): Promise<string> => registry.text(),
    mended,
    health(report: HealthReport): void {
      state([report.state])
      needs(report.problems.map(({ needs: what }) => what))
    },
    sessionLost: (what: Need): void => sessionsLost({ needs: what }),
    ended({ outcome, duration_ms, rounds: count }: Ended): void {
      turns({ outcome }, duration_ms)
      if (outcome !== 'failed') rounds(count)
    },
    answers(send: (typeof SENDS)[number], seen: readonly Answer[]): void {
      for (const { answer } of seen) answers({ send, answer })
      // One that a worker is known to have is asked about again until it starts, and one that a queue has had since it was
      // dispatched is only on its way. One that waited until its worker had room was with no worker: nothing was stuck.
      const isNews = ({ answer, outbox_status, was_there, waited_for_room }: Answer): boolean =>
        answer === 'ACCEPTED' && outbox_status === 'PENDING' && !was_there && !waited_for_room
      if (send === 'again') mended('attempt_sent_again', seen.filter(isNews).length)
    },
  }
}

function addPublishMetrics(registry: MetricsRegistry, tallied: readonly TalliedMetric[]) {
  const publishes = registry.counter(
    'servo_publishes_total',
    'Revisions that turns published, or lost to another turn that was first.',
    seriesOf('outcome', ['published', 'lost']),
  )
  const foldDelay = registry.seconds('servo_fold_delay_seconds', 'Of each segment: from its creation to the publish that folded it.')
  const events = registry.counter(
    'servo_events_folded_total',
    'Events that were folded, by what became of them.',
    seriesOf('outcome', ['applied', 'duplicate', 'refused', 'quarantined']),
  )
  const addTally = addTallyMetrics(registry, tallied)
  return {
    published({ counts, fold_delays_ms, tally }: Published): void {
      publishes({ outcome: 'published' })
      for (const [outcome, count] of Object.entries(counts)) events({ outcome }, count)
      for (const delay_ms of fold_delays_ms) foldDelay({}, delay_ms)
      addTally(tally)
    },
    lost: (): void => publishes({ outcome: 'lost' }),
  }
}
