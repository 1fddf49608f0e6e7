// The word that somebody probably meant.

/** Of words this near one is a slip of the other; further apart a suggestion would be a guess. */
const SLIPS_MAX = 2

export function nearestWord(word: string, words: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase()
  let nearest: string | undefined
  // In a short word two slips are half of it.
  let slipsBelow = Math.min(SLIPS_MAX, Math.floor(wanted.length / 3)) + 1
  for (const candidate of words) {
    const slips = slipsBetween(wanted, candidate.toLowerCase())
    if (slips < slipsBelow) [nearest, slipsBelow] = [candidate, slips]
  }
  return nearest
}

/** ` Did you mean …?`, or nothing, for the end of a sentence about the word. */
export function suggestion(word: string, words: Iterable<string>): string {
  const nearest = nearestWord(word, words)
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`
}

/** Letters left out, added, replaced, or swapped with their neighbour. */
function slipsBetween(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > SLIPS_MAX) return Number.POSITIVE_INFINITY
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? at(beforeLast, j - 2) + 1 : replaced
      row.push(Math.min(replaced, swapped, at(last, j) + 1, at(row, j - 1) + 1))
    }
    // Rows only grow: most words of a long list end here.
    if (Math.min(...row) > SLIPS_MAX) return Number.POSITIVE_INFINITY
    ;[beforeLast, last] = [last, row]
  }
  return at(last, b.length)
}

const at = (row: readonly number[], index: number): number => row[index] as number
