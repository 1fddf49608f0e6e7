// Places for work that goes on at the same time: who finds none waits, in order.

type Room = <T>(work: () => Promise<T>) => Promise<T>

export function createRoom(places: number): Room {
  let free = places
  const waiting: (() => void)[] = []
  return async (work) => {
    if (free > 0) free -= 1
    else await new Promise<void>((enter) => waiting.push(enter))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}
