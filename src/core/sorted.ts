// Places in lists that are in order.

/** Of the first one that is wanted, as all after it are; the length where none is. */
export function firstIndex<T>(sorted: readonly T[], isWanted: (item: T) => boolean): number {
  let low = 0
  for (let high = sorted.length; low < high; ) {
    const middle = (low + high) >>> 1
    if (isWanted(sorted[middle] as T)) high = middle
    else low = middle + 1
  }
  return low
}
