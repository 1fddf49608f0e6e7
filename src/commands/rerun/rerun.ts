// A rerun: a new run with a parent, of what the parent selected or of what did not succeed of it, by the definitions that
// are current now. What succeeded is not in it, so its successors take it as it was materialized.

import { rerunRunKey, userRunKey } from '../../core/keys.js'
import { endOffsetOf, type RunRequestInstant } from '../../partitions/requestable.js'
import type { RunRow } from '../../projections/run-table.js'
import { isOver } from '../../projections/state-machine.js'
import { readAssetGraph } from '../../readers/assets.js'
import type { View } from '../../readers/reader.js'
import { isProblem, type Problem, problem } from '../problem.js'
import { partitionFaults } from '../run-partitions.js'
import { type RunDeps, type RunPlanned, writeRunRequest } from '../run-request.js'
import { type Selected, selectUnfinished, selectWhole } from './select.js'

type RerunAsked = {
  readonly mode: 'from_failure' | 'whole'
  readonly tags?: Readonly<Record<string, string>> | undefined
  readonly run_key?: string | undefined
  readonly priority?: number | undefined
  readonly requested_by?: string | undefined
  readonly reason?: string | undefined
}

export async function planRerun(
  deps: RunDeps,
  { view, run: parent }: { readonly view: View; readonly run: RunRow },
  asked: RerunAsked,
  now: number,
): Promise<RunPlanned | Problem> {
  const { run_id: parent_run_id } = parent
  if (!isOver(parent.state)) {
    const advice = 'Wait until it is, or cancel it first'
    return problem('conflict', `Run ${parent_run_id} is not over: it is ${parent.state}. ${advice}.`, { members: { state: parent.state } })
  }
  const rerun_mode = asked.mode === 'whole' ? 'ALL' : 'FROM_FAILURE'
  const run_key = asked.run_key === undefined ? rerunRunKey(parent_run_id, rerun_mode) : userRunKey(asked.run_key)
  const earlier = asked.run_key === undefined ? await endedRerun(view, parent_run_id, run_key) : undefined
  if (earlier !== undefined) return earlier
  const selected = await (asked.mode === 'whole' ? selectWhole(deps, parent) : selectUnfinished(deps, view, parent))
  if (isProblem(selected)) return selected
  const partition_end_offset = await inheritedOffset(view, parent)
  const fault = await definitionFault(view, selected, { requested_at: now, partition_end_offset })
  if (fault !== undefined) {
    const advice = 'Deploy what is missing, or ask for a new run of what you want'
    return problem('conflict', `Run ${parent_run_id} cannot be run again as it was: ${fault} ${advice}.`)
  }
  return writeRunRequest(deps, view, {
    ...asked,
    ...selected,
    run_key,
    is_key_claimed: true,
    tags: { ...parent.tags, ...asked.tags },
    priority: asked.priority ?? parent.priority,
    origin: {
      trigger: { type: 'RERUN' },
      parent_run_id,
      root_run_id: parent.root_run_id ?? parent_run_id,
      rerun_mode,
      ...(partition_end_offset === null ? {} : { partition_end_offset }),
    },
  })
}

/** The key stays with the rerun that has it. Where that one did not succeed, it is the one to go on from. */
async function endedRerun(view: View, parent_run_id: string, run_key: string): Promise<Problem | undefined> {
  const holder = await view.row('run_key_index', [run_key])
  if (holder === undefined) return undefined
  const run_id = String(holder['run_id'])
  const run = await view.row('runs', [run_id])
  if (run === undefined || !isOver(run.state) || run.state === 'SUCCEEDED') return undefined
  return problem(
    'conflict',
    `Run ${parent_run_id} was run again as ${run_id}, which is ${run.state}. Rerun that one, or choose a run key for another rerun of this one.`,
    { members: { run_id, state: run.state } },
  )
}

/** How far past the partitions that exist the parent was allowed to go. Versions before fold version 5 did not record it: then the schedule says. */
async function inheritedOffset(view: View, { partition_end_offset, schedule_id }: RunRow): Promise<number | null> {
  if (partition_end_offset !== null || schedule_id === null) return partition_end_offset
  const definition = await view.row('schedule_definitions', [schedule_id])
  return endOffsetOf(definition?.partition_mapping ?? null)
}

const NAMED_MAX = 10

/** What the parent selected may not be there any more, or may have other partitions. */
async function definitionFault(view: View, { asset_keys, partitions }: Selected, instant: RunRequestInstant): Promise<string | undefined> {
  const { definitions } = await readAssetGraph(view)
  const gone = asset_keys.filter((asset_key) => !definitions.has(asset_key))
  if (gone.length > 0) {
    const named = `${gone.slice(0, NAMED_MAX).join(', ')}${gone.length > NAMED_MAX ? `, and ${gone.length - NAMED_MAX} more` : ''}`
    return gone.length === 1 ? `${named} is not defined any more.` : `${gone.length} assets are not defined any more: ${named}.`
  }
  const faults = partitionFaults(
    partitions,
    asset_keys.flatMap((asset_key) => definitions.get(asset_key) ?? []),
    instant,
  )
  return faults.length === 0 ? undefined : faults.map(({ message }) => message).join(' ')
}
