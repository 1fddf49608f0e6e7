// What ranges of instants say about where rows are: pure arithmetic over what checkpoints and sub-lists carry.

import type { Part } from './revision.js'
import type { Condition } from './table-files.js'

/** False where the ranges of instants show that no row of the part, or of the list of parts, fits. */
export function timesFit({ times }: Pick<Part, 'times'>, where: readonly Condition[]): boolean {
  return where.every((condition) => {
    const range = times[condition.column]
    if (range === undefined || !('is' in condition) || typeof condition.value !== 'number') return true
    const { is, value } = condition
    const [from, to] = range
    if (is === '=') return from <= value && value <= to
    if (is === '<') return from < value
    if (is === '<=') return from <= value
    if (is === '>') return to > value
    if (is === '>=') return to >= value
    return true
  })
}
