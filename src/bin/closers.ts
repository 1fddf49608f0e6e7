// What was opened step by step is closed in the opposite order, whatever fails on the way.

export type Closers = {
  readonly add: (close: () => Promise<unknown>) => void
  /** Runs all of them, the last one first. Rejects with the first fault, when all have run. */
  readonly closeAll: () => Promise<void>
}

export function createClosers(): Closers {
  const closers: (() => Promise<unknown>)[] = []
  return {
    add: (close) => void closers.push(close),
    async closeAll() {
      const faults: unknown[] = []
      for (const close of closers.splice(0).reverse()) await close().catch((error: unknown) => faults.push(error))
      if (faults.length > 0) throw faults[0]
    },
  }
}
