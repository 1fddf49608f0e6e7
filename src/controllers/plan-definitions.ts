// Which assets a run selects, and by which definitions it runs: the pinned ones where it has pins, else the current ones.
// What is not in memory for that is named before (planNeeds), because a controller reads nothing by itself.

import { compareText } from '../core/order.js'
import type { DefinitionPins } from '../events/run.js'
import type { ListReference } from '../events/value.js'
import type { AssetDefinitionRow } from '../projections/asset-table.js'
import { listReferenceOf } from '../projections/partition.js'
import type { RunRow } from '../projections/run-table.js'
import type { KeyedRow } from '../projections/tables.js'
import { missingKeys, type WorkingSet } from '../projections/working-set.js'
import type { Needs } from './decision.js'
import { type PlanFault, planFault } from './plan-fault.js'
import { createParentRound, leftNeeds } from './plan-left.js'

/** What the runs that wait for a plan name and nobody loaded: lists, pinned definitions, and of reruns what is left of
 *  their parents. A list of pins names definitions, and a parent's tasks name both: ask again when these are there. */
export function planNeeds(rows: WorkingSet): Needs {
  const lists = new Set<string>()
  const keys: KeyedRow[] = []
  const ended = new Set<string>()
  const isParentInRound = createParentRound()
  for (const run of pendingRuns(rows)) {
    const left = leftNeeds(rows, run, isParentInRound)
    for (const sha256 of left.lists) lists.add(sha256)
    for (const run_id of left.ended) ended.add(run_id)
    keys.push(...left.keys)
    const missing = referencesOf(run).filter(({ sha256 }) => !rows.isListKnown(sha256))
    for (const { sha256 } of missing) lists.add(sha256)
    if (missing.length > 0) continue
    const pins = pinsOf(rows, run)
    const selected = selectedKeys(rows, run)
    if ('code' in pins || 'code' in selected) continue
    const pinned = selected.keys.flatMap((asset_key): KeyedRow[] => {
      const definition_hash = pins.hashes.get(asset_key)
      return definition_hash === undefined ? [] : [{ table: 'asset_definitions', key: [asset_key, definition_hash] }]
    })
    keys.push(...missingKeys(rows, pinned))
  }
  return { lists: [...lists], keys, ended: [...ended] }
}

/** Of urgent runs first, then of those that waited longest. */
export const pendingRuns = (rows: WorkingSet): readonly RunRow[] =>
  rows
    .hotRows('runs')
    .filter(({ state }) => state === 'PENDING')
    .sort(inPlanOrder)

const inPlanOrder = (left: RunRow, right: RunRow): number =>
  right.priority - left.priority || left.requested_at - right.requested_at || compareText(left.run_id, right.run_id)

function referencesOf({ assets, partitions, definition_pins }: RunRow): readonly ListReference[] {
  const pins = pinListOf(definition_pins)
  return [...('list' in assets ? [assets.list] : []), ...listReferenceOf(partitions), ...(pins === undefined ? [] : [pins])]
}

/** Pins in a map may be those of an asset called `list`, and are texts. */
function pinListOf(definition_pins: RunRow['definition_pins']): ListReference | undefined {
  const list = (definition_pins as DefinitionPins | null)?.list
  return typeof list === 'object' ? list : undefined
}

type SelectedDefinitions = { readonly definitions: ReadonlyMap<string, AssetDefinitionRow> }

/** All that is missing is named at once: who asked can mend it in one go. */
export function selectDefinitions(rows: WorkingSet, run: RunRow): SelectedDefinitions | PlanFault {
  const selected = selectedKeys(rows, run)
  if ('code' in selected) return selected
  const pins = pinsOf(rows, run)
  if ('code' in pins) return pins
  const definitions = new Map<string, AssetDefinitionRow>()
  const unknown: string[] = []
  for (const asset_key of selected.keys) {
    const definition_hash = pins.hashes.get(asset_key)
    const definition =
      definition_hash === undefined ? rows.currentDefinition(asset_key) : rows.get('asset_definitions', asset_key, definition_hash)
    if (definition !== undefined) definitions.set(asset_key, definition)
    else unknown.push(definition_hash === undefined ? asset_key : `${asset_key}@${definition_hash}`)
  }
  if (unknown.length === 0) return { definitions }
  const subject = unknown.length === 1 ? 'This asset is' : `These ${unknown.length} assets are`
  return planFault('UNKNOWN_ASSET', `${subject} not defined: `, unknown.sort(), '. Deploy what defines them, or select others.')
}

function selectedKeys(rows: WorkingSet, { assets }: RunRow): { readonly keys: readonly string[] } | PlanFault {
  if ('keys' in assets) return { keys: [...new Set(assets.keys)] }
  const keys = slice(rows, assets.list)
  return keys === undefined ? lostList('assets', assets.list) : { keys }
}

function pinsOf(rows: WorkingSet, { definition_pins }: RunRow): { readonly hashes: ReadonlyMap<string, string> } | PlanFault {
  const reference = pinListOf(definition_pins)
  if (reference === undefined) return { hashes: new Map(Object.entries((definition_pins ?? {}) as Readonly<Record<string, string>>)) }
  const pins = slice(rows, reference)
  if (pins === undefined) return lostList('pinned definitions', reference)
  return { hashes: new Map(pins.map((pin) => [pin.slice(0, pin.indexOf('@')), pin.slice(pin.indexOf('@') + 1)])) }
}

function slice(rows: WorkingSet, { sha256, count, offset = 0 }: ListReference): readonly string[] | undefined {
  const list = rows.list(sha256)
  return list === undefined || list.length < offset + count ? undefined : list.slice(offset, offset + count)
}

const lostList = (what: string, { sha256, count, offset = 0 }: ListReference): PlanFault =>
  planFault(
    'UNKNOWN_ASSET',
    `The list ${sha256} of the run's ${what} is not there, or has not the ${offset + count} values that the run names. ` +
      'Write the list, and ask for the run again.',
  )
