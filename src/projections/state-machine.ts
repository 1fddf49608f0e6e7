// The states that end. What is over keeps its state (DATA section 4).

export type OverState = 'SUCCEEDED' | 'FAILED' | 'SKIPPED' | 'CANCELLED'

export const isOver = (state: string): state is OverState =>
  state === 'SUCCEEDED' || state === 'FAILED' || state === 'SKIPPED' || state === 'CANCELLED'
