// Why a command was not taken: a value, never an error. The code says what a program does next; the sentence says to a
// person what happened and what to do.

export type ProblemCode =
  /** Something that was given cannot be meant. */
  | 'bad-input'
  | 'not-found'
  /** What it rests on has changed, or its state does not allow it. */
  | 'conflict'
  | 'run-key-conflict'
  /** The attempt is over, another execution has it, or it is to be cancelled: the worker stops. */
  | 'attempt-over'
  | 'unauthorized'
  /** It comes from a page in a browser that is none of this server's, or is for another server's name. */
  | 'forbidden'
  | 'too-large'
  | 'key-reused'
  /** Nothing is wrong with it: ask again in a moment. */
  | 'not-ready'
  /** No revision has it, and it may be among what is accepted and not taken up by a turn yet. */
  | 'not-taken-up'

export type Fault = { readonly path: string; readonly message: string }

export type Problem = {
  readonly problem: ProblemCode
  readonly detail: string
  readonly faults?: readonly Fault[]
  /** What stands in the way, for programs: the run that has the key, the version that is there. */
  readonly members?: Readonly<Record<string, unknown>>
}

export const problem = (code: ProblemCode, detail: string, more: Pick<Problem, 'faults' | 'members'> = {}): Problem => ({
  problem: code,
  detail,
  ...more,
})

export const isProblem = (value: object): value is Problem => 'problem' in value && 'detail' in value
