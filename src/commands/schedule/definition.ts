// What is asked for of a schedule, as the definition that its event carries, and all that is wrong with it.

import { canonicalBytes } from '../../core/canonical.js'
import { cronWarnings, readCrons } from '../../core/cron/schedule-ticks.js'
import { isUlid } from '../../core/ids.js'
import { definitionHash } from '../../core/keys.js'
import { DEFINITION_BYTES_MAX, PRIORITY_DEFAULT } from '../../core/limits.js'
import { zoneProblem } from '../../core/zone-name.js'
import { zoneSpelling } from '../../core/zone-spelling.js'
import type { ScheduleDefinition } from '../../events/schedule-definition.js'
import { isRefusal } from '../../partitions/key-order.js'
import { keyOrderOf } from '../../partitions/order.js'
import { selectAssets } from '../../projections/asset-selection.js'
import type { ScheduleDefinitionRow } from '../../projections/schedule-table.js'
import { ticksOf } from '../../projections/schedule-ticks.js'
import { isTickFault, openTick } from '../../projections/tick-request.js'
import type { AssetGraph } from '../../readers/assets.js'
import type { Fault } from '../problem.js'

/** One spelling of one definition, so that it has one hash: what says nothing is left out, and a zone is one zone in any case. */
export function spelledOnce({ tags, priority, timezone, ...rest }: ScheduleDefinition): ScheduleDefinition {
  return {
    ...rest,
    timezone: zoneSpelling(timezone),
    ...(tags === undefined || Object.keys(tags).length === 0 ? {} : { tags }),
    ...(priority === undefined || priority === PRIORITY_DEFAULT ? {} : { priority }),
  }
}

export const definitionOfRow = (row: ScheduleDefinitionRow): ScheduleDefinition =>
  spelledOnce({
    cron_expressions: row.cron_expressions,
    timezone: row.timezone,
    asset_selection: row.asset_selection,
    ...(row.partition_mapping === null ? {} : { partition_mapping: row.partition_mapping }),
    catchup_window_minutes: row.catchup_window_minutes,
    max_catchup_ticks: row.max_catchup_ticks,
    catch_up_on_resume: row.catch_up_on_resume,
    overlap_policy: row.overlap_policy,
    tags: row.tags,
    priority: row.priority,
    ...(row.description === null ? {} : { description: row.description }),
    default_status: row.default_status,
  })

type NamedDefinition = { readonly schedule_name: string; readonly definition: ScheduleDefinition }

/** Whether it is so already, as it is spelled now: a version that spells more in the same definition changes nothing. */
export const isAsDefined = (row: ScheduleDefinitionRow, { schedule_name, definition }: NamedDefinition): boolean =>
  row.schedule_name === schedule_name &&
  definitionHash(definitionOfRow(row)) === definitionHash(definition) &&
  // It is no part of the hash.
  row.description === (definition.description ?? null)

export const nameProblem = (schedule_name: string): string | undefined =>
  isUlid(schedule_name) ? `${schedule_name} would be taken for the id of a schedule. Give it a name that says what it does.` : undefined

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
