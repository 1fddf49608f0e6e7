// One signal of several, for as long as some work takes. `AbortSignal.any` keeps a trace of each of its signals on a source that
// lives on, and a process that stops once in months would gather them.

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
