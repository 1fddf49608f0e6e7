// Many sorted runs told as one, a few things of each at a time. Of equal ones it tells that of the newest run alone.

/** Its next things, in order; undefined: there are no more. */
export type SortedRun<T> = () => readonly T[] | undefined

type Cursor<T> = { readonly next: SortedRun<T>; readonly age: number; things: readonly T[]; at: number }

/** Oldest run first. Answers one thing after another, then undefined. */
export function mergedRuns<T>(runs: readonly SortedRun<T>[], compare: (left: T, right: T) => number): () => T | undefined {
  const heap: Cursor<T>[] = []

  function isBefore(left: Cursor<T>, right: Cursor<T>): boolean {
    const order = compare(left.things[left.at] as T, right.things[right.at] as T)
    return order === 0 ? left.age > right.age : order < 0
  }

  /** Puts the cursor at this place where it belongs, below. */
  function sink(from: number): void {
    const cursor = heap[from] as Cursor<T>
    let place = from
    for (let child = 2 * place + 1; child < heap.length; child = 2 * place + 1) {
      const other = heap[child + 1]
      if (other !== undefined && isBefore(other, heap[child] as Cursor<T>)) child += 1
      if (isBefore(cursor, heap[child] as Cursor<T>)) break
      heap[place] = heap[child] as Cursor<T>
      place = child
    }
    heap[place] = cursor
  }

  /** Moves the first cursor on, or takes it out when its run is over. */
  function advance(): void {
    const cursor = heap[0] as Cursor<T>
    cursor.at += 1
    if (cursor.at === cursor.things.length && !refill(cursor)) {
      const last = heap.pop() as Cursor<T>
      if (heap.length === 0) return
      heap[0] = last
    }
    sink(0)
  }

  for (const [age, next] of runs.entries()) {
    const cursor: Cursor<T> = { next, age, things: [], at: 0 }
    if (refill(cursor)) heap.push(cursor)
  }
  for (let place = (heap.length >> 1) - 1; place >= 0; place--) sink(place)

  return () => {
    const thing = heap[0]?.things[heap[0].at]
    if (thing === undefined) return undefined
    advance()
    // What the older runs have of this was replaced.
    for (let head = heap[0]; head !== undefined; head = heap[0]) {
      if (compare(head.things[head.at] as T, thing) !== 0) break
      advance()
    }
    return thing
  }
}

function refill<T>(cursor: Cursor<T>): boolean {
  const things = cursor.next()
  cursor.things = things ?? []
  cursor.at = 0
  return cursor.things.length > 0
}
