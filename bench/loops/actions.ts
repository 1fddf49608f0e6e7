// Counts what Temporal Cloud bills as actions, event by event of the histories of loops: starts (continue-as-new too), signals,
// updates, timers, each attempt of an activity, and updates of search attributes. Queries and heartbeats leave no event.

import { type Client, WorkflowNotFoundError } from '@temporalio/client'

export type ActionKind = 'start' | 'signal' | 'update' | 'timer' | 'activity' | 'attribute update'
export type ActionCounts = Readonly<Record<ActionKind, number>>

export const ACTION_KINDS: readonly ActionKind[] = ['start', 'signal', 'update', 'timer', 'activity', 'attribute update']

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>
type HistoryEvent = NonNullable<History['events']>[number]

/** Of one run of a loop, with when it began. */
export type LoopRun = { readonly workflow_id: string; readonly run_id: string; readonly events: readonly HistoryEvent[] }

/** Which action an event stands for, and how many of it. */
function actionOf(event: HistoryEvent): readonly [ActionKind, number] | undefined {
  if (event.workflowExecutionStartedEventAttributes) return ['start', 1]
  if (event.workflowExecutionSignaledEventAttributes) return ['signal', 1]
  if (event.workflowExecutionUpdateAcceptedEventAttributes) return ['update', 1]
  if (event.timerStartedEventAttributes) return ['timer', 1]
  // One event, written when the last attempt has begun, says how many there were.
  if (event.activityTaskStartedEventAttributes) return ['activity', event.activityTaskStartedEventAttributes.attempt ?? 1]
  if (event.upsertWorkflowSearchAttributesEventAttributes) return ['attribute update', 1]
  return undefined
}

/** `from` and `to` in milliseconds of the server's clock. */
export function countActions(runs: readonly LoopRun[], from = 0, to = Number.POSITIVE_INFINITY): ActionCounts {
  const counts = Object.fromEntries(ACTION_KINDS.map((kind) => [kind, 0])) as Record<ActionKind, number>
  for (const { events } of runs) {
    for (const event of events) {
      const at = timeOf(event)
      const action = at >= from && at < to ? actionOf(event) : undefined
      if (action !== undefined) counts[action[0]] += action[1]
    }
  }
  return counts
}

export const totalOf = (counts: ActionCounts): number => ACTION_KINDS.reduce((sum, kind) => sum + counts[kind], 0)

export const actionsText = (counts: ActionCounts, per = 1): string =>
  ACTION_KINDS.filter((kind) => counts[kind] > 0)
    .map((kind) => `${kind} ${Number((counts[kind] / per).toPrecision(3))}`)
    .join(', ')

const timeOf = ({ eventTime }: HistoryEvent): number => Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1e6

const READS_AT_ONCE = 8

/** Every run of the loops that the query finds, those that a newer run has followed too. */
export async function readRuns(client: Client, query: string): Promise<readonly LoopRun[]> {
  const found: { readonly workflow_id: string; readonly run_id: string }[] = []
  for await (const { workflowId, runId } of client.workflow.list({ query })) found.push({ workflow_id: workflowId, run_id: runId })
  const rest = found.values()
  const runs: LoopRun[] = []
  const reader = async () => {
    for (const run of rest) {
      try {
        runs.push({ ...run, events: (await client.workflow.getHandle(run.workflow_id, run.run_id).fetchHistory()).events ?? [] })
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error
      }
    }
  }
  await Promise.all(Array.from({ length: READS_AT_ONCE }, reader))
  return runs
}

/** The timers of the newest run of a loop that have neither fired nor been cancelled, in milliseconds. */
export function pendingTimers(runs: readonly LoopRun[], workflow_id: string): readonly number[] {
  const newest = runs.filter((run) => run.workflow_id === workflow_id).sort((left, right) => beginOf(right) - beginOf(left))[0]
  const pending = new Map<string, number>()
  for (const { timerStartedEventAttributes, timerFiredEventAttributes, timerCanceledEventAttributes } of newest?.events ?? []) {
    if (timerStartedEventAttributes) {
      const { timerId, startToFireTimeout } = timerStartedEventAttributes
      pending.set(timerId ?? '', Number(startToFireTimeout?.seconds ?? 0) * 1_000 + (startToFireTimeout?.nanos ?? 0) / 1e6)
    }
    pending.delete((timerFiredEventAttributes ?? timerCanceledEventAttributes)?.timerId ?? '-')
  }
  return [...pending.values()]
}

const beginOf = ({ events: [first] }: LoopRun): number => (first === undefined ? 0 : timeOf(first))
