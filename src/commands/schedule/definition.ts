// All that is wrong with the definition of a schedule.

import { canonicalBytes } from '../../core/canonical.js'
import { cronWarnings, readCrons } from '../../core/cron/schedule-ticks.js'
import { DEFINITION_BYTES_MAX } from '../../core/limits.js'
import { zoneProblem } from '../../core/zone-name.js'
import type { ScheduleDefinition } from '../../events/schedule-definition.js'
import { isRefusal } from '../../partitions/key-order.js'
import { keyOrderOf } from '../../partitions/order.js'
import { selectAssets } from '../../projections/asset-selection.js'
import { ticksOf } from '../../projections/schedule-ticks.js'
import { isTickFault, openTick } from '../../projections/tick-request.js'
import type { AssetGraph } from '../../readers/assets.js'
import type { Fault } from '../problem.js'

/** `now`: what its next tick would ask for is asked for already, so that a mapping that cannot be meant is not taken. */
export function scheduleFaults(graph: AssetGraph, definition: ScheduleDefinition, now: number): readonly Fault[] {
  const bytes = canonicalBytes(definition)
  if (bytes > DEFINITION_BYTES_MAX) {
    return [{ path: '', message: `The definition has ${bytes} bytes of JSON, and ${DEFINITION_BYTES_MAX} is the most. Say it shorter.` }]
  }
  const faults = [...cronFaults(definition), ...selectionFaults(graph, definition)]
  return faults.length > 0 ? faults : mappingFaults(graph, definition, now)
}

export const scheduleWarnings = ({ cron_expressions }: ScheduleDefinition): readonly string[] => cronWarnings(cron_expressions)

function cronFaults({ cron_expressions, timezone }: ScheduleDefinition): readonly Fault[] {
  const crons = readCrons(cron_expressions)
  const zone = zoneProblem(timezone)
  return [
    ...('problem' in crons ? [{ path: 'cron_expressions', message: crons.problem }] : []),
    ...(zone === null ? [] : [{ path: 'timezone', message: zone }]),
  ]
}

/** What is selected now tells what was meant: a tick looks it up again. */
function selectionFaults(graph: AssetGraph, { asset_selection, partition_mapping }: ScheduleDefinition): readonly Fault[] {
  const { asset_keys, faults } = selectAssets(graph, asset_selection)
  if (faults.length > 0) return faults.map(({ path, message }) => ({ path: path.replace(/^selection/, 'asset_selection'), message }))
  const partitioned = asset_keys.find((asset_key) => graph.definitions.get(asset_key)?.partitions !== null)
  if (partitioned !== undefined && partition_mapping === undefined) {
    const message = `${partitioned} has partitions: say which a tick asks for. {"type": "LAST_COMPLETE"} is the last one that is complete.`
    return [{ path: 'partition_mapping', message }]
  }
  if (partitioned === undefined && partition_mapping !== undefined) {
    return [{ path: 'partition_mapping', message: 'None of the selected assets has partitions. Leave partition_mapping out.' }]
  }
  return []
}

/** Zones agree about the day at some hours alone: what counts is the hour at which it fires. No partition yet is no fault. */
function mappingFaults(graph: AssetGraph, definition: ScheduleDefinition, now: number): readonly Fault[] {
  const { asset_selection, partition_mapping } = definition
  if (partition_mapping === undefined) return []
  const tick = openTick({ asset_selection, partition_mapping }, graph)
  // What is wrong with the partitions themselves is told of the assets.
  if (isTickFault(tick) || tick.asset_keys.some((asset_key) => hasFaultyPartitions(graph, asset_key))) return []
  const ticks = ticksOf(definition)
  const asks = tick.asksAt('problem' in ticks ? now : (ticks.next(now) ?? now))
  return isTickFault(asks) ? [{ path: 'partition_mapping', message: asks.message }] : []
}

function hasFaultyPartitions({ definitions }: AssetGraph, asset_key: string): boolean {
  const partitions = definitions.get(asset_key)?.partitions ?? null
  return partitions !== null && isRefusal(keyOrderOf(partitions))
}
