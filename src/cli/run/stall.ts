// Asks the API why a watched run stands still, after seconds without a change. Without it the command would wait silently for ten
// minutes when the worker is away or cannot load its code.

import type { Task, TaskWhy } from '../answers.js'

/** A busy system hands an attempt over within this. */
const STALLED_AFTER_MS = 5_000
const ASK_AGAIN_MS = 10_000

type StallDeps = {
  readonly ask: (task_key: string) => Promise<Pick<TaskWhy, 'code' | 'sentence' | 'worker_problem'>>
  /** Milliseconds from any beginning. */
  readonly elapsed: () => number
}

/** `kind` names the reason; instants and counts change in the sentence alone. */
export type Stall = { readonly kind: string; readonly sentence: string }

type StallTask = Pick<Task, 'task_key' | 'state' | 'attempt'>

/** Answers why the run stands still; undefined: it moves, or the reason is not known. */
export function createStallWatch({ ask, elapsed }: StallDeps): (tasks: readonly StallTask[]) => Promise<Stall | undefined> {
  let last = ''
  let moved_at = elapsed()
  let asked_at = Number.NEGATIVE_INFINITY
  let stall: Stall | undefined
  return async (tasks) => {
    const now = elapsed()
    const states = tasks.map(({ task_key, state, attempt }) => `${task_key} ${state} ${attempt}`).join('\n')
    if (states !== last) {
      last = states
      moved_at = now
      stall = undefined
    }
    const task = taskToAskFor(tasks)
    if (task === undefined || now - moved_at < STALLED_AFTER_MS || now - asked_at < ASK_AGAIN_MS) return stall
    asked_at = now
    const { code, sentence, worker_problem } = await ask(task.task_key)
    // Running code may take any time, so only a problem of its worker is reported.
    const text = task.state === 'RUNNING' ? worker_problem : sentence
    stall = text === null ? undefined : { kind: `${task.task_key} ${code} ${worker_problem ?? ''}`, sentence: text }
    return stall
  }
}

/** The state that is nearest to the end first. A blocked task waits for one of the others. */
const ASKED_FOR = ['RUNNING', 'DISPATCHED', 'RETRY_WAIT', 'READY'] as const

const taskToAskFor = (tasks: readonly StallTask[]): StallTask | undefined =>
  ASKED_FOR.map((wanted) => tasks.find(({ state }) => state === wanted)).find((task) => task !== undefined)
