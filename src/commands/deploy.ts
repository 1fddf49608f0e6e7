// A deploy: one location, whole. What it changes is told before, like a plan; what is wrong with any part of it refuses all
// of it; and the same content again changes nothing.

import { assetDefinedKey, assetRemovedKey, definitionHash, deployKey, locationContentSha256 } from '../core/keys.js'
import { LOCATION_SLOTS_DEFAULT } from '../core/limits.js'
import { compareText } from '../core/order.js'
import type { AssetDefinition } from '../events/asset.js'
import type { Draft } from '../events/draft.js'
import type { AssetDefinitionRow, CodeLocationRow } from '../projections/asset-table.js'
import { readAssetGraph } from '../readers/assets.js'
import type { View } from '../readers/reader.js'
import {
  type DefinitionDiff,
  type DeployedMembers,
  type DeployPart,
  definitionDiff,
  deployedDrafts,
  type Matches,
  matchDefinitions,
} from './definitions/deployed.js'
import { type KeptDefinitions, withMissingAssets, withMissingMembers } from './definitions/keep-missing.js'
import type { Noun } from './definitions/noun.js'
import { DEPLOYED_NOUNS, type DeployedPlural } from './definitions/nouns.js'
import { deployFaults } from './deploy-faults.js'
import { type MemberChange, memberChanges } from './member-changes.js'
import { type Problem, problem } from './problem.js'

type DeployAsked = { readonly [Plural in DeployedPlural]?: readonly DeployedMembers[] | undefined } & {
  readonly location_name: string
  readonly worker_url: string
  readonly worker_queue?: string | undefined
  readonly slots?: number | undefined
  readonly prefetch?: number | undefined
  readonly code_version?: string | undefined
  readonly sdk?: string | undefined
  readonly assets: readonly AssetDefinition[]
  /** What the deployer has seen; the newest one where it is left out. 0: the location is new. */
  readonly expected_location_version?: number | undefined
  /** true: definitions that the deploy does not contain stay as they are. */
  readonly keep_missing?: boolean | undefined
  readonly requested_by?: string | undefined
  readonly reason?: string | undefined
}

type DefinitionDiffs = { readonly schedules: DefinitionDiff<'schedule_name'> }

export type DeployDiff = DefinitionDiffs & {
  readonly added: readonly string[]
  readonly changed: readonly AssetChange[]
  readonly removed: readonly string[]
  readonly unchanged_count: number
  /** Members of the location itself that change: its URL, its slots. */
  readonly location: readonly MemberChange[]
  /** With `keep_missing`: the definitions that the deploy does not contain. */
  readonly kept?: KeptDefinitions
}
type AssetChange = { readonly asset_key: string; readonly members: readonly MemberChange[] }

type DeployPlanned = {
  readonly location_version: number
  readonly content_sha256: string
  readonly diff: DeployDiff
  /** Empty: what is deployed is what was asked for. */
  readonly drafts: readonly Draft[]
}

type DeployRequested = { readonly request_id: string; readonly now: number }

export async function planDeploy(
  view: View | undefined,
  given: DeployAsked,
  { request_id, now }: DeployRequested,
): Promise<DeployPlanned | Problem> {
  const definitions = view === undefined ? new Map<string, AssetDefinitionRow>() : (await readAssetGraph(view)).definitions
  const location = await view?.row('code_locations', [given.location_name])
  const version = location?.location_version ?? 0
  const expected = given.expected_location_version ?? version
  if (expected !== version) {
    return problem(
      'conflict',
      `The code location ${given.location_name} is at version ${version}, and this deploy was made for version ${expected}: somebody else deployed. Look at the difference again, and deploy anew.`,
      { members: { location_version: version } },
    )
  }
  const current = [...definitions.values()].filter(({ location_name }) => location_name === given.location_name)
  const { asked, parts, kept } = completed(given, current, await readParts(view, given))
  const faults = deployFaults(asked, definitions, parts, now)
  if (faults.length > 0) {
    return problem('bad-input', `Nothing was deployed. ${faults.map(({ message }) => message).join(' ')}`, { faults })
  }
  const matches = parts.map((part) => ({ noun: part.noun, matches: matchDefinitions(part, asked.location_name) }))
  const diff = diffOf(asked, { location, current, matches, kept })
  const content_sha256 = locationContentSha256(asked.location_name, asked.assets, Object.fromEntries(parts.map(sortedByName)))
  // Definitions that are kept come from rows, which have no `renamed_from`: their hash may differ though nothing has changed.
  const isSame = location !== undefined && (kept !== undefined || location.content_sha256 === content_sha256)
  const drafts = isSame && isEmpty(diff) ? [] : draftsOf(asked, { diff, parts, matches, current, content_sha256, version, request_id })
  return { location_version: version, content_sha256, diff, drafts }
}

const readParts = (view: View | undefined, asked: DeployAsked): Promise<readonly DeployPart[]> =>
  Promise.all(DEPLOYED_NOUNS.map(async ([plural, noun]) => ({ noun, asked: asked[plural] ?? [], current: await noun.entities(view) })))

type Completed = { readonly asked: DeployAsked; readonly parts: readonly DeployPart[]; readonly kept: KeptDefinitions | undefined }

/** With what the location has and the deploy does not contain, where nothing is to be removed. */
function completed(asked: DeployAsked, current: readonly AssetDefinitionRow[], parts: readonly DeployPart[]): Completed {
  if (asked.keep_missing !== true) return { asked, parts, kept: undefined }
  const assets = withMissingAssets(asked.assets, current)
  const whole = parts.map((part) => withMissingMembers(part, asked.location_name))
  return {
    asked: { ...asked, assets: assets.whole },
    parts: whole.map(({ part }) => part),
    kept: { assets: assets.kept, ...byNoun(whole.map(({ part, kept }) => [part.noun, kept])) },
  }
}

/** One member a noun, named as in a deploy. */
const byNoun = <T>(entries: readonly (readonly [Noun, T])[]): Readonly<Record<DeployedPlural, T>> =>
  Object.fromEntries(entries.map(([noun, value]) => [noun.plural, value])) as Record<DeployedPlural, T>

const sortedByName = ({ noun, asked }: DeployPart): readonly [string, readonly DeployedMembers[]] => {
  const nameOf = (members: DeployedMembers) => members[noun.name_member] as string
  return [noun.plural, [...asked].sort((left, right) => compareText(nameOf(left), nameOf(right)))]
}

type NounMatches = { readonly noun: Noun; readonly matches: Matches }

function isEmpty(diff: DeployDiff): boolean {
  const { added, changed, removed, location } = diff
  const ofNouns = DEPLOYED_NOUNS.flatMap(([plural]) => [diff[plural].added, diff[plural].changed, diff[plural].removed])
  return [added, changed, removed, location, ...ofNouns].every(({ length }) => length === 0)
}

type Compared = {
  readonly location: CodeLocationRow | undefined
  readonly current: readonly AssetDefinitionRow[]
  readonly matches: readonly NounMatches[]
  readonly kept: KeptDefinitions | undefined
}

function diffOf(asked: DeployAsked, { location, current, matches, kept: kept_names }: Compared): DeployDiff {
  const before = new Map(current.map((row) => [row.asset_key, row.definition]))
  const after = new Map([...asked.assets].sort((a, b) => compareText(a.asset_key, b.asset_key)).map((each) => [each.asset_key, each]))
  const kept = [...after.values()].filter(({ asset_key }) => before.has(asset_key))
  const changed = kept
    .map((definition) => ({ asset_key: definition.asset_key, members: memberChanges(before.get(definition.asset_key) ?? {}, definition) }))
    .filter(({ members }) => members.length > 0)
  return {
    added: [...after.keys()].filter((asset_key) => !before.has(asset_key)),
    changed,
    removed: [...before.keys()].filter((asset_key) => !after.has(asset_key)).sort(compareText),
    unchanged_count: kept.length - changed.length,
    location: location === undefined ? [] : memberChanges(locationMembers(location), locationMembers(withDefaults(asked))),
    ...(byNoun(matches.map(({ noun, matches: each }) => [noun, definitionDiff(noun, each)])) as unknown as DefinitionDiffs),
    ...(kept_names === undefined ? {} : { kept: kept_names }),
  }
}

type LocationMembers = Pick<CodeLocationRow, 'worker_url' | 'worker_queue' | 'slots' | 'prefetch' | 'code_version' | 'sdk'>

const locationMembers = ({ worker_url, worker_queue, slots, prefetch, code_version, sdk }: LocationMembers): LocationMembers => ({
  worker_url,
  worker_queue,
  slots,
  prefetch: prefetch ?? 0,
  code_version,
  sdk,
})

const withDefaults = ({ worker_url, worker_queue, slots, prefetch, code_version, sdk }: DeployAsked): LocationMembers => ({
  worker_url,
  worker_queue: worker_queue ?? WORKER_QUEUE_DEFAULT,
  slots: slots ?? LOCATION_SLOTS_DEFAULT,
  prefetch: prefetch ?? 0,
  code_version: code_version ?? null,
  sdk: sdk ?? null,
})

const WORKER_QUEUE_DEFAULT = 'default'

type Planned = {
  readonly diff: DeployDiff
  readonly parts: readonly DeployPart[]
  readonly matches: readonly NounMatches[]
  readonly current: readonly AssetDefinitionRow[]
  readonly content_sha256: string
  readonly version: number
  readonly request_id: string
}

function draftsOf(asked: DeployAsked, { diff, parts, matches, current, content_sha256, version, request_id }: Planned): readonly Draft[] {
  const { location_name, requested_by, reason } = asked
  const by = { ...(requested_by === undefined ? {} : { requested_by }), ...(reason === undefined ? {} : { reason }) }
  const about = { correlation_id: `deploy:${location_name}:${request_id}` }
  const touched = new Set([...diff.added, ...diff.changed.map(({ asset_key }) => asset_key)])
  const defined = asked.assets.filter(({ asset_key }) => touched.has(asset_key))
  const hashes = new Map(current.map(({ asset_key, definition_hash }) => [asset_key, definition_hash]))
  const deployed: Draft = {
    ...about,
    event_type: 'CodeLocationDeployed',
    idempotency_key: deployKey(asked, request_id),
    basis: { expected_location_version: version },
    payload: {
      location_name,
      content_sha256,
      worker_url: asked.worker_url,
      worker_queue: asked.worker_queue ?? WORKER_QUEUE_DEFAULT,
      slots: asked.slots ?? LOCATION_SLOTS_DEFAULT,
      ...(asked.prefetch === undefined ? {} : { prefetch: asked.prefetch }),
      ...(asked.code_version === undefined ? {} : { code_version: asked.code_version }),
      ...(asked.sdk === undefined ? {} : { sdk: asked.sdk }),
      asset_count: asked.assets.length,
      schedule_count: countOf(parts, 'schedules'),
      sensor_count: 0,
      ...by,
    },
  }
  return [
    deployed,
    ...defined.map((definition): Draft => {
      const { asset_key } = definition
      const definition_hash = definitionHash(definition)
      return {
        ...about,
        caused_by: 0,
        event_type: 'AssetDefined',
        idempotency_key: assetDefinedKey({ asset_key, definition_hash }, request_id),
        payload: { location_name, asset_key, definition_hash, definition, ...by },
      }
    }),
    ...diff.removed.map(
      (asset_key): Draft => ({
        ...about,
        caused_by: 0,
        event_type: 'AssetRemoved',
        idempotency_key: assetRemovedKey({ asset_key }, request_id),
        basis: { definition_hash: hashes.get(asset_key) as string },
        payload: { location_name, asset_key, ...by },
      }),
    ),
    ...matches.flatMap(({ noun, matches: each }) => deployedDrafts(noun, each, { location_name, ...about, request_id, asked })),
  ]
}

const countOf = (parts: readonly DeployPart[], plural: DeployedPlural): number =>
  parts.find(({ noun }) => noun.plural === plural)?.asked.length ?? 0
