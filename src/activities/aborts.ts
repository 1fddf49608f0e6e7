// Work that ends with a signal, without a trace on the signal when it ended by itself: a process that stops once in months
// would gather what is left on it. `AbortSignal.any` and `Promise.race` with a promise that lives on both leave something.

/** The signal is aborted as soon as one of these is. No listener outlives the work. */
export async function withAnySignal<T>(signals: readonly AbortSignal[], work: (any: AbortSignal) => Promise<T>): Promise<T> {
  const any = new AbortController()
  const abort = () => any.abort()
  for (const signal of signals) {
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
  }
  try {
    return await work(any.signal)
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', abort)
  }
}

/** As the work ends; undefined: the signal was aborted first, and nobody waits for the work any more. */
export const beforeAbort = <T>(signal: AbortSignal, work: Promise<T>): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    const leave = () => {
      signal.removeEventListener('abort', leave)
      resolve(undefined)
    }
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
