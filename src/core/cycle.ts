// Assets that need each other, so that none of them could ever be the first.

/** More would not help anybody: mending one often mends the others. */
const CYCLES_SHOWN_MAX = 10

/** Each cycle as the path that leads back to its beginning, smallest key first. Every knot of cycles shows at least one.
 *  Keys that `dependencies` does not have belong to other locations, which a deploy knows and this does not. */
export function cyclesIn(dependencies: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const cycles: (readonly string[])[] = []
  const done = new Set<string>()
  for (const start of [...dependencies.keys()].sort()) {
    if (done.has(start)) continue
    // A path of its own, not recursion: a chain may be as long as a location is large.
    const path = [start]
    const onPath = new Set(path)
    const left = [[...(dependencies.get(start) ?? [])]]
    while (path.length > 0) {
      const next = left.at(-1)?.shift()
      if (next === undefined) {
        const over = path.pop() as string
        left.pop()
        onPath.delete(over)
        done.add(over)
      } else if (onPath.has(next)) {
        if (cycles.length < CYCLES_SHOWN_MAX) cycles.push(fromSmallest(path.slice(path.indexOf(next))))
      } else if (!done.has(next) && dependencies.has(next)) {
        path.push(next)
        onPath.add(next)
        left.push([...(dependencies.get(next) ?? [])])
      }
    }
  }
  return cycles
}

function fromSmallest(cycle: readonly string[]): readonly string[] {
  const first = cycle.indexOf([...cycle].sort()[0] as string)
  const turned = [...cycle.slice(first), ...cycle.slice(0, first)]
  return [...turned, turned[0] as string]
}
