// Completes a deploy that must remove nothing: definitions that it does not contain are deployed again as they are. `servo dev` uses
// it after an edit, because no person has seen the plan.

import { compareText } from '../core/order.js'
import type { AssetDefinition } from '../events/asset.js'
import type { AssetDefinitionRow } from '../projections/asset-table.js'
import type { Schedule } from '../readers/schedules.js'
import { definitionOfRow } from './schedule/definition.js'
import { type DeployedSchedule, matchSchedules } from './schedule/deployed.js'

type Deploy = {
  readonly location_name: string
  readonly assets: readonly AssetDefinition[]
  readonly schedules?: readonly DeployedSchedule[] | undefined
}

/** Names of the definitions that the deploy did not contain. */
export type KeptDefinitions = { readonly assets: readonly string[]; readonly schedules: readonly string[] }

type Current = { readonly definitions: readonly AssetDefinitionRow[]; readonly schedules: readonly Schedule[] }

/** A schedule that the deploy renames counts as contained. */
export function withMissing<D extends Deploy>(asked: D, current: Current): { readonly whole: D; readonly kept: KeptDefinitions } {
  const contained = new Set(asked.assets.map(({ asset_key }) => asset_key))
  const assets = current.definitions
    .filter(({ asset_key }) => !contained.has(asset_key))
    .toSorted((left, right) => compareText(left.asset_key, right.asset_key))
  const schedules = matchSchedules(asked.location_name, asked.schedules ?? [], current.schedules)
    .removed.map(({ definition }): DeployedSchedule => ({ schedule_name: definition.schedule_name, ...definitionOfRow(definition) }))
    .toSorted((left, right) => compareText(left.schedule_name, right.schedule_name))
  const kept = { assets: assets.map(({ asset_key }) => asset_key), schedules: schedules.map(({ schedule_name }) => schedule_name) }
  return {
    whole: {
      ...asked,
      assets: [...asked.assets, ...assets.map(({ definition }) => definition)],
      schedules: [...(asked.schedules ?? []).map((each) => withoutFormerName(each, kept.schedules)), ...schedules],
    },
    kept,
  }
}

/** When both names are schedules already, the former one is kept, and the other one is not renamed. */
function withoutFormerName({ renamed_from, ...rest }: DeployedSchedule, kept: readonly string[]): DeployedSchedule {
  return renamed_from === undefined || kept.includes(renamed_from) ? rest : { ...rest, renamed_from }
}
