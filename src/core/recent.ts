// Maps that remember what was used last, and no more than so much of it.

/** The youngest is last, so that the oldest goes. */
export function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, size_max: number): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= size_max) break
    map.delete(oldest)
  }
}
