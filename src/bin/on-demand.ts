// What is made when somebody first needs it, so that a process answers before it has loaded what its answer does not need.

export type OnDemand<T> = {
  /** Made for the first who asks, and the same for all; made again after it failed. */
  readonly get: () => Promise<T>
  /** undefined: nobody has asked. */
  readonly made: () => Promise<T> | undefined
}

export function onDemand<T>(make: () => Promise<T>): OnDemand<T> {
  let made: Promise<T> | undefined
  return {
    get() {
      made ??= make().catch((error: unknown) => {
        made = undefined
        throw error
      })
      return made
    },
    made: () => made,
  }
}
