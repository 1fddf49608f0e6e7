// Completes a deploy that must remove nothing: definitions that it does not contain are deployed again as they are. `servo dev` uses
// it after an edit, because no person has seen the plan.

import { compareText } from '../../core/order.js'
import type { AssetDefinition } from '../../events/asset.js'
import type { AssetDefinitionRow } from '../../projections/asset-table.js'
import { type DeployedMembers, type DeployPart, matchDefinitions, missingMembers } from './deployed.js'
import type { DeployedPlural } from './nouns.js'

/** Names of the definitions that the deploy did not contain. */
export type KeptDefinitions = { readonly assets: readonly string[] } & { readonly [Plural in DeployedPlural]: readonly string[] }

/** The assets of the deploy, and those that the location had and the deploy does not contain. */
export function withMissingAssets(asked: readonly AssetDefinition[], current: readonly AssetDefinitionRow[]) {
  const contained = new Set(asked.map(({ asset_key }) => asset_key))
  const missing = current
    .filter(({ asset_key }) => !contained.has(asset_key))
    .toSorted((left, right) => compareText(left.asset_key, right.asset_key))
  return { whole: [...asked, ...missing.map(({ definition }) => definition)], kept: missing.map(({ asset_key }) => asset_key) }
}

/** One that the deploy renames counts as contained. */
export function withMissingMembers(part: DeployPart, location_name: string) {
  const missing = missingMembers(part.noun, matchDefinitions(part, location_name))
  const kept = missing.map((members) => members[part.noun.name_member] as string)
  const asked = [...part.asked.map((members) => withoutFormerName(members, kept)), ...missing]
  return { part: { ...part, asked }, kept }
}

/** When both names are there already, the former one is kept, and the other one is not renamed. */
function withoutFormerName({ renamed_from, ...rest }: DeployedMembers, kept: readonly string[]): DeployedMembers {
  return renamed_from === undefined || kept.includes(renamed_from as string) ? rest : { ...rest, renamed_from }
}
