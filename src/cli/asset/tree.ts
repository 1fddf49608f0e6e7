// The graph of assets as text, upstream first: below each asset what needs it, and where an asset needs several, the whole
// of it below the last of these. Pure.

import type { AssetGraph } from '../answers.js'

type Step = { readonly asset_key: string; readonly lead: string; readonly branch: string; readonly below: string }

/** Said where an asset is named and not gone into, because something else that it needs comes first. */
const ELSEWHERE = '(further down)'

export function assetTree({ nodes, edges }: AssetGraph): readonly string[] {
  const groups = new Map(nodes.map(({ asset_key, group_name }) => [asset_key, group_name]))
  const downstream = new Map<string, string[]>(nodes.map(({ asset_key }) => [asset_key, []]))
  // How many of the assets that it needs are still to be printed.
  const missing = new Map<string, number>(nodes.map(({ asset_key }) => [asset_key, 0]))
  for (const { from, to } of edges) {
    if (!groups.has(from) || !groups.has(to)) continue
    downstream.get(from)?.push(to)
    missing.set(to, (missing.get(to) ?? 0) + 1)
  }
  const roots = [...groups.keys()].filter((asset_key) => missing.get(asset_key) === 0).sort()
  const lines: string[] = []
  // A stack, not recursion: a graph may be as deep as it is large.
  const left: Step[] = roots.map((asset_key) => ({ asset_key, lead: '', branch: '', below: '' })).reverse()
  for (let step = left.pop(); step !== undefined; step = left.pop()) {
    const { asset_key, lead, branch, below } = step
    // Asked when it is printed: what comes between may be the last that it needs.
    const count = (missing.get(asset_key) ?? 0) - (branch === '' ? 0 : 1)
    missing.set(asset_key, count)
    const group = groups.get(asset_key)
    const isWhole = count <= 0
    lines.push(`${lead}${branch}${asset_key}${isWhole ? (group == null ? '' : `  [${group}]`) : `  ${ELSEWHERE}`}`)
    if (!isWhole) continue
    const next = [...(downstream.get(asset_key) ?? [])].sort()
    for (const [index, key] of [...next.entries()].reverse()) {
      const isLast = index === next.length - 1
      left.push({ asset_key: key, lead: `${lead}${below}`, branch: isLast ? '└─ ' : '├─ ', below: isLast ? '   ' : '│  ' })
    }
  }
  return lines
}
