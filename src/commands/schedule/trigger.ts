// A tick that somebody asks for: the tick and its requests for runs are one batch, whatever the status of the schedule. The
// same request is the same tick, whoever appends it again.

import { assert } from '../../core/errors.js'
import { manualScheduleRunKey, manualScheduleTickedKey, manualTickId } from '../../core/keys.js'
import { instantMs, instantText } from '../../core/time.js'
import type { Draft } from '../../events/draft.js'
import type { Selector } from '../../events/value.js'
import { selectAssets } from '../../projections/asset-selection.js'
import { readAssetGraph } from '../../readers/assets.js'
import type { View } from '../../readers/reader.js'
import type { Schedule } from '../../readers/schedules.js'
import { isProblem, type Problem, problem } from '../problem.js'
import { partitionFaults } from '../run-partitions.js'
import { type RunDeps, type RunPlanned, writeRunRequest } from '../run-request.js'
import { type By, by, livingSchedule } from './target.js'

export type TriggerAsked = By & {
  /** Instead of the one that the mapping says. */
  readonly partition?: string | undefined
  /** As if it were this instant. */
  readonly instant?: string | undefined
}

export type TriggeredRun = { readonly run_id: string; readonly run_key: string; readonly partition: string | null }

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
  view: View | undefined,
  id_or_name: string,
  asked: TriggerAsked,
  { request_id, now }: { readonly request_id: string; readonly now: number },
): Promise<TriggerPlanned | Problem> {
  const found = await livingSchedule(view, id_or_name)
  if (isProblem(found) || view === undefined) return found as Problem
  const at_ms = asked.instant === undefined ? now : instantMs(asked.instant)
  const selected = await selectedOf(view, found, asked, at_ms)
  if (isProblem(selected)) return selected
  const { definition } = found
  const { schedule_id, schedule_name } = definition
  const tick_id = manualTickId(schedule_id, request_id)
  const runs: (RunPlanned & { readonly partition: string | null })[] = []
  for (const partition of selected.partitions) {
    const isOne = selected.partitions.length === 1 || partition === null
    const run = await writeRunRequest(deps, view, {
      asset_keys: selected.asset_keys,
      ...(partition === null ? {} : { partitions: { keys: [partition] } }),
      tags: definition.tags,
      priority: definition.priority,
      run_key: manualScheduleRunKey(schedule_id, request_id, isOne ? undefined : partition),
      origin: { trigger: { type: 'SCHEDULE', schedule_id, tick_id } },
      ...by(asked),
    })
    runs.push({ ...run, partition })
  }
  const scheduled_for = instantText(at_ms)
  return {
    schedule_id,
    schedule_name,
    tick_id,
    scheduled_for,
    runs: runs.map(({ run_id, run_key, partition }) => ({ run_id, run_key, partition })),
    drafts: [
      tickedDraft(found, asked, { request_id, tick_id, scheduled_for, runs }),
      ...runs.map(({ draft }): Draft => ({ ...draft, caused_by: 0 })),
    ],
  }
}

type Ticked = {
  readonly request_id: string
  readonly tick_id: string
  readonly scheduled_for: string
  readonly runs: readonly (RunPlanned & { readonly partition: string | null })[]
}

function tickedDraft({ definition }: Schedule, asked: By, { request_id, tick_id, scheduled_for, runs }: Ticked): Draft {
  const { schedule_id, definition_version, definition_hash } = definition
  const [first] = runs
  assert(first, `The tick ${tick_id} asks for no run.`)
  const { run_key, run_id, request_fingerprint, assets } = first.draft.payload
  const keys = runs.flatMap(({ partition }) => (partition === null ? [] : [partition])).sort()
  const partitions: Selector = keys.length === 0 ? null : { keys }
  return {
    event_type: 'ScheduleTicked',
    idempotency_key: manualScheduleTickedKey(schedule_id, request_id),
    correlation_id: run_id,
    // Ticks of the clock do not make it stale; another definition does, because then it would ask for what nobody meant.
    basis: { definition_version },
    payload: {
      schedule_id,
      kind: 'MANUAL',
      from: scheduled_for,
      to: scheduled_for,
      ticks: [{ tick_id, scheduled_for, status: 'TRIGGERED', partitions, run_count: runs.length, run_key, request_fingerprint }],
      definition_hash,
      definition_version,
      assets,
      ...by(asked),
    },
  }
}

type Selected = { readonly asset_keys: readonly string[]; readonly partitions: readonly (string | null)[] }

/** Looked up now, as every tick does: what the schedule selected when it was defined may be gone. */
async function selectedOf(view: View, { definition }: Schedule, asked: TriggerAsked, _at_ms: number): Promise<Selected | Problem> {
  const graph = await readAssetGraph(view)
  const { schedule_name, asset_selection } = definition
  const { asset_keys, faults } = selectAssets(graph, asset_selection)
  if (faults.length > 0 || asset_keys.length === 0) {
    const why = faults.map(({ message }) => message).join(' ')
    return problem(
      'conflict',
      `The schedule ${schedule_name} selects what is not there any more. ${why} Deploy it, or change the schedule.`,
    )
  }
  const definitions = asset_keys.flatMap((asset_key) => graph.definitions.get(asset_key) ?? [])
  if (asked.partition !== undefined) {
    const wrong = partitionFaults({ keys: [asked.partition] }, definitions)
    if (wrong.length === 0) return { asset_keys, partitions: [asked.partition] }
    const told = wrong.map(({ message }) => ({ path: 'partition', message }))
    return problem('bad-input', told.map(({ message }) => message).join(' '), { faults: told })
  }
  return { asset_keys, partitions: [null] }
}
