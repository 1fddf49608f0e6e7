// Which files of a table are merged into which level: pure arithmetic over the parts of a checkpoint. Which file is newer
// is never read off a level; the row's version says it.

import type { Part } from '../tables/revision.js'

/** A level holds one sorted run: parts that do not overlap. Levels come in tiers; when a tier has no free level, its runs
 *  become one run of the next tier. So a row is rewritten once a tier, and the tiers grow with the table's logarithm.
 *  Four runs of a size make one of the next: fewer rewrite more, more have to be asked more. */
const LEVELS_PER_TIER = 4
/** A run of the first tier is what about one merge of deltas brings. */
const FIRST_TIER_ROWS = 20_000

export type MergePlan = {
  readonly inputs: readonly Part[]
  readonly kept: readonly Part[]
  /** Level of the merged run. */
  readonly level: number
}

/** What a merge takes in: fresh files with the runs of tiers that are full, everything into one run, or what is fresh alone. */
export type Intake = 'due' | 'whole' | 'fresh'

/** undefined: nothing to do. */
export function planMerge(parts: readonly Part[], intake: Intake): MergePlan | undefined {
  const fresh = parts.filter(({ level }) => level === 0)
  const runs = new Map<number, Part[]>()
  for (const part of parts) if (part.level > 0) runs.set(part.level, [...(runs.get(part.level) ?? []), part])
  if (intake === 'whole') {
    if (fresh.length === 0 && runs.size <= 1) return undefined
    return { inputs: parts, kept: [], level: levelOfAll(rowsOf(parts)) }
  }
  if (fresh.length === 0) return undefined
  const inputs = [...fresh]
  for (let tier = tierOf(rowsOf(inputs)); ; tier = Math.max(tier + 1, tierOf(rowsOf(inputs)))) {
    const free = levelsOf(tier).find((level) => !runs.has(level))
    if (free !== undefined) {
      const kept = [...runs.values()].flat()
      return { inputs, kept, level: free }
    }
    if (intake === 'fresh') continue
    for (const level of levelsOf(tier)) {
      inputs.push(...(runs.get(level) ?? []))
      runs.delete(level)
    }
  }
}

/** The level of a run that is all there is. */
export const levelOfAll = (rows: number): number => firstLevel(tierOf(rows))

const rowsOf = (parts: readonly Part[]): number => parts.reduce((sum, { rows }) => sum + rows, 0)

const firstLevel = (tier: number): number => tier * LEVELS_PER_TIER + 1

const levelsOf = (tier: number): number[] => Array.from({ length: LEVELS_PER_TIER }, (_, slot) => firstLevel(tier) + slot)

function tierOf(rows: number): number {
  let tier = 0
  for (let capacity = FIRST_TIER_ROWS; rows > capacity; capacity *= LEVELS_PER_TIER) tier += 1
  return tier
}
