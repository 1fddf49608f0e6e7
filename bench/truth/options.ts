// What every benchmark of the truth layer is told.

export type SuiteOptions = {
  readonly is_quick: boolean
  /** One of: append, fold, visible, history, memory, read, size, replay. */
  readonly only: string | undefined
}
