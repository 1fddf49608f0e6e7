// A tick that somebody asks for: the tick and its requests for runs are one batch, whatever the status of the schedule. The
// same request is the same tick, whoever appends it again. What a tick asks for is found as for those of the clock.

import { assert } from '../../core/errors.js'
import { manualScheduleRunKey, manualScheduleTickedKey, manualTickId } from '../../core/keys.js'
import { runId } from '../../core/run-id.js'
import { instantMs, instantText } from '../../core/time.js'
import type { Draft } from '../../events/draft.js'
import { writeList } from '../../ledger/lists.js'
import { endOffsetOf, type RunRequestInstant } from '../../partitions/requestable.js'
import { type RequestDraft, triggerBatch } from '../../projections/run-request.js'
import { type AskedRun, isTickFault, openTick, requestRunOfTick, type TickAssets, type TickFault } from '../../projections/tick-request.js'
import { createTickRoom, tooManyRuns } from '../../projections/tick-room.js'
import { type AssetGraph, readAssetGraph } from '../../readers/assets.js'
import type { Found } from '../../readers/not-found.js'
import type { Schedule } from '../../readers/schedules.js'
import { type By, by } from '../by.js'
import { removedProblem } from '../definitions/blocked.js'
import { type Fault, isProblem, type Problem, problem } from '../problem.js'
import { canonicalKeys, partitionFaults } from '../run-partitions.js'
import type { RunDeps } from '../run-request.js'
import { SCHEDULE_NOUN, scheduleEntity } from './noun.js'

type TriggerAsked = By & {
  /** Instead of the one that the mapping says. */
  readonly partition?: string | undefined
  /** As if it were this instant. */
  readonly instant?: string | undefined
}

type TriggeredRun = { readonly run_id: string; readonly run_key: string; readonly partition: string | null }

export type TriggerPlanned = {
  readonly schedule_id: string
  readonly schedule_name: string
  readonly tick_id: string
  readonly scheduled_for: string
  readonly runs: readonly TriggeredRun[]
  readonly drafts: readonly Draft[]
}

/** `now` is the instant of a request that names none. */
export async function planScheduleTrigger(
  deps: RunDeps,
  { view, ...found }: Found<Schedule>,
  asked: TriggerAsked,
  { request_id, now }: { readonly request_id: string; readonly now: number },
): Promise<TriggerPlanned | Problem> {
  const removed = removedProblem(SCHEDULE_NOUN, scheduleEntity(found))
  if (removed !== undefined) return removed
  const graph = await readAssetGraph(view)
  const { definition } = found
  const { schedule_id, schedule_name } = definition
  const at_ms = asked.instant === undefined ? now : instantMs(asked.instant)
  const tick = openTick(definition, graph)
  const instant = { requested_at: now, partition_end_offset: endOffsetOf(definition.partition_mapping) }
  const asks = isTickFault(tick) ? tick : asksOf(tick, graph, asked, { at_ms, instant })
  if (isProblem(asks)) return asks
  if (isTickFault(tick) || isTickFault(asks)) return cannotAsk(found, (isTickFault(tick) ? tick : asks) as TickFault)
  if ('none' in asks) return noPartition(found, at_ms)
  const runs = asks.runs.map((run) => ({ ...run, run_key: manualScheduleRunKey(schedule_id, request_id, run.suffix) }))
  const room = createTickRoom(tick, definition.tags, by(asked))
  if (!room.take({ partitions: asks.partitions, runs })) return cannotAsk(found, tooManyRuns(runs.length))
  if (tick.long_list !== undefined) await writeList(deps, tick.long_list)
  const tick_id = manualTickId(schedule_id, request_id)
  const scheduled_for = instantText(at_ms)
  const requests = requestsOf(deps, found, { asked, tick_id, tick, runs })
  const ticked = tickedDraft(found, { asked, request_id, tick_id, scheduled_for, partitions: asks.partitions, requests })
  return {
    schedule_id,
    schedule_name,
    tick_id,
    scheduled_for,
    runs: requests.map(({ payload: { run_id, run_key, partitions } }) => ({
      run_id,
      run_key,
      partition: partitions !== null && 'keys' in partitions ? (partitions.keys[0] ?? null) : null,
    })),
    drafts: triggerBatch(ticked, requests),
  }
}

type TriggerInstant = { readonly at_ms: number; readonly instant: RunRequestInstant }

/** A partition that is named is asked for alone, and checked and spelled as in a request for a run. An instant to come asks
 *  for partitions that do not exist now. */
function asksOf(
  tick: TickAssets,
  { definitions }: AssetGraph,
  { partition }: TriggerAsked,
  { at_ms, instant }: TriggerInstant,
): ReturnType<TickAssets['asksAt']> | Problem {
  const selected = tick.asset_keys.flatMap((asset_key) => definitions.get(asset_key) ?? [])
  const faultsOf = (keys: readonly string[], path: string) =>
    partitionFaults({ keys }, selected, instant).map(({ message }) => ({ path, message }))
  if (partition === undefined) {
    const asks = tick.asksAt(at_ms)
    const keys = at_ms <= instant.requested_at ? [] : keysAskedBy(asks)
    const faults = keys.length === 0 ? [] : faultsOf(keys, 'instant')
    return faults.length === 0 ? asks : badPartitions(faults)
  }
  const faults = faultsOf([partition], 'partition')
  if (faults.length > 0) return badPartitions(faults)
  const partitions = { keys: canonicalKeys([partition], selected) }
  return { partitions, runs: [{ partitions }] }
}

const badPartitions = (faults: readonly Fault[]): Problem =>
  problem('bad-input', faults.map(({ message }) => message).join(' '), { faults })

/** Each run of a tick names its keys one by one, if its assets have partitions. */
const keysAskedBy = (asks: ReturnType<TickAssets['asksAt']>): readonly string[] =>
  'runs' in asks ? asks.runs.flatMap(({ partitions }) => (partitions !== null && 'keys' in partitions ? partitions.keys : [])) : []

const cannotAsk = ({ definition: { schedule_name } }: Schedule, { code, message }: TickFault): Problem =>
  problem(
    'conflict',
    `The schedule ${schedule_name} cannot tick as things are: ${message} ${code === 'TOO_MANY_RUNS' ? 'Until then name one with partition.' : 'Deploy what is missing, or change the schedule.'}`,
    { members: { code } },
  )

const noPartition = ({ definition: { schedule_name } }: Schedule, at_ms: number): Problem =>
  problem(
    'conflict',
    `No partition that the schedule ${schedule_name} maps to is complete at ${instantText(at_ms)}. Name one with partition, or a later instant.`,
    { members: { code: 'NO_PARTITION' } },
  )

type Requested = {
  readonly asked: By
  readonly tick_id: string
  readonly tick: TickAssets
  readonly runs: readonly (AskedRun & { readonly run_key: string })[]
}

function requestsOf(
  { secrets: [secret], scope }: RunDeps,
  { definition }: Schedule,
  { asked, tick_id, tick, runs }: Requested,
): readonly RequestDraft[] {
  const identity = { secret_key_id: secret.secret_key_id, runIdOf: (run_key: string) => runId(secret, scope, run_key) }
  return runs.map(({ partitions, run_key }) =>
    requestRunOfTick({ run_key, partitions, tick, definition, tick_id, by: by(asked) }, identity),
  )
}

type Ticked = Omit<Requested, 'tick' | 'runs'> & {
  readonly request_id: string
  readonly scheduled_for: string
  readonly partitions: AskedRun['partitions']
  readonly requests: readonly RequestDraft[]
}

function tickedDraft({ definition }: Schedule, { asked, request_id, tick_id, scheduled_for, partitions, requests }: Ticked): Draft {
  const { schedule_id, definition_version, definition_hash } = definition
  const [first] = requests
  assert(first, `The tick ${tick_id} asks for no run.`)
  const { run_key, request_fingerprint, assets } = first.payload
  return {
    event_type: 'ScheduleTicked',
    idempotency_key: manualScheduleTickedKey(schedule_id, request_id),
    // Ticks of the clock do not make it stale; another definition does, because then it would ask for what nobody meant.
    basis: { definition_version },
    payload: {
      schedule_id,
      kind: 'MANUAL',
      from: scheduled_for,
      to: scheduled_for,
      ticks: [{ tick_id, scheduled_for, status: 'TRIGGERED', partitions, run_count: requests.length, run_key, request_fingerprint }],
      definition_hash,
      definition_version,
      assets,
      ...by(asked),
    },
  }
}
