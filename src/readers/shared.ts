// One answer for all who ask at the same time, and never one that began before the question.

/** Who asks while an answer is being made shares the one after it. */
export function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let asking: Promise<T> | undefined
  let next: Promise<T> | undefined

  function answer(): Promise<T> {
    if (asking === undefined) {
      asking = ask().finally(() => {
        asking = undefined
      })
      return asking
    }
    next ??= asking
      .catch(() => undefined)
      .then(() => {
        next = undefined
        return answer()
      })
    return next
  }
  return answer
}
