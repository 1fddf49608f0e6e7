// From what is selected to asset keys: `a`, `+a` with all that it needs, `a+` with all that needs it, `+a+` both,
// `group:x`, `tag:k=v`, `*`. Several selectors select all that any of them does. People select when they ask for a run, and
// schedules at each of their ticks.

import { isAssetKey } from '../core/ids.js'
import { suggestion } from '../core/spelling.js'
import type { AssetDefinitionRow } from './asset-table.js'

/** Who needs whom. */
export type AssetGraph = {
  /** Current ones; in the order of their keys. */
  readonly definitions: ReadonlyMap<string, AssetDefinitionRow>
  /** By the key of what is needed; only assets that are defined. */
  readonly downstream: ReadonlyMap<string, readonly string[]>
}

/** Of current definitions, in the order of their keys. */
export function assetGraphOf(rows: readonly AssetDefinitionRow[]): AssetGraph {
  const definitions = new Map(rows.map((row) => [row.asset_key, row]))
  const downstream = new Map<string, string[]>(rows.map(({ asset_key }) => [asset_key, []]))
  for (const { asset_key, deps } of rows) for (const dep of deps) downstream.get(dep.asset_key)?.push(asset_key)
  return { definitions, downstream }
}

type SelectionFault = { readonly path: string; readonly message: string }
type Selection = { readonly asset_keys: readonly string[]; readonly faults: readonly SelectionFault[] }

export function selectAssets(graph: AssetGraph, selectors: readonly string[]): Selection {
  const selected = new Set<string>()
  const faults: SelectionFault[] = []
  for (const [index, selector] of selectors.entries()) {
    const found = selectOne(graph, selector)
    if ('problem' in found) faults.push({ path: `selection[${index}]`, message: found.problem })
    else for (const asset_key of found.keys) selected.add(asset_key)
  }
  return { asset_keys: [...selected].sort(), faults }
}

type Found = { readonly keys: Iterable<string> } | { readonly problem: string }

function selectOne(graph: AssetGraph, selector: string): Found {
  if (selector === '*') return someOf(graph.definitions.keys(), 'No asset is defined yet. Deploy a code location first.')
  if (selector.startsWith('group:')) return selectGroup(graph, selector.slice('group:'.length))
  if (selector.startsWith('tag:')) return selectTag(graph, selector.slice('tag:'.length))
  return selectKey(graph, selector)
}

function someOf(keys: Iterable<string>, problem: string): Found {
  const list = [...keys]
  return list.length === 0 ? { problem } : { keys: list }
}

function selectGroup({ definitions }: AssetGraph, group: string): Found {
  const rows = [...definitions.values()]
  const groups = new Set(rows.flatMap(({ group_name }) => (group_name === null ? [] : [group_name])))
  return someOf(
    rows.filter(({ group_name }) => group_name === group).map(({ asset_key }) => asset_key),
    `No asset is in the group ${JSON.stringify(group)}.${suggestion(group, groups) || listOf('Groups', groups)}`,
  )
}

function selectTag({ definitions }: AssetGraph, tag: string): Found {
  const at = tag.indexOf('=')
  const name = at < 0 ? tag : tag.slice(0, at)
  const value = at < 0 ? undefined : tag.slice(at + 1)
  const rows = [...definitions.values()]
  const names = new Set(rows.flatMap(({ definition }) => Object.keys(definition.tags ?? {})))
  const fits = (tags: Readonly<Record<string, string>> = {}) => Object.hasOwn(tags, name) && (value === undefined || tags[name] === value)
  return someOf(
    rows.filter(({ definition }) => fits(definition.tags)).map(({ asset_key }) => asset_key),
    `No asset has the tag ${JSON.stringify(tag)}.${suggestion(name, names) || listOf('Tags', names)}`,
  )
}

const SHOWN_MAX = 10

function listOf(what: string, names: ReadonlySet<string>): string {
  const shown = [...names].sort().slice(0, SHOWN_MAX)
  return shown.length === 0 ? '' : ` ${what} that there are: ${shown.join(', ')}${names.size > SHOWN_MAX ? ', …' : ''}.`
}

function selectKey(graph: AssetGraph, selector: string): Found {
  const withUpstream = selector.startsWith('+')
  const withDownstream = selector.length > 1 && selector.endsWith('+')
  const asset_key = selector.slice(withUpstream ? 1 : 0, withDownstream ? -1 : undefined)
  if (!isAssetKey(asset_key)) {
    return {
      problem: `${JSON.stringify(selector)} is no selector. Write an asset key, +key, key+, +key+, group:NAME, tag:NAME=VALUE or *.`,
    }
  }
  const { definitions, downstream } = graph
  if (!definitions.has(asset_key)) return { problem: `${asset_key} is not defined.${suggestion(asset_key, definitions.keys())}` }
  const upstreamOf = (key: string) => definitions.get(key)?.deps.map((dep) => dep.asset_key) ?? []
  const downstreamOf = (key: string) => downstream.get(key) ?? []
  return {
    keys: [
      asset_key,
      ...(withUpstream ? reachable(asset_key, upstreamOf, definitions) : []),
      ...(withDownstream ? reachable(asset_key, downstreamOf, definitions) : []),
    ],
  }
}

/** All that the steps lead to, without recursion: a graph may be as deep as it is large. */
function reachable(from: string, stepsOf: (key: string) => readonly string[], defined: ReadonlyMap<string, unknown>): ReadonlySet<string> {
  const seen = new Set<string>()
  const left = [from]
  for (let key = left.pop(); key !== undefined; key = left.pop()) {
    for (const next of stepsOf(key)) {
      if (seen.has(next) || !defined.has(next)) continue
      seen.add(next)
      left.push(next)
    }
  }
  return seen
}
