// How processes are to be reached: what an API takes from workers and people, and a worker from a queue.

import type { SendAnswer } from '../../../src/activities/dispatch.js'
import type { Dispatch } from '../../../src/api/contract/worker.js'
import type { AttemptDeps } from '../../../src/commands/attempt.js'
import type { ClaimDeps } from '../../../src/commands/claims.js'
import type { RunDeps } from '../../../src/commands/run-request.js'
import type { Process } from '../../fixtures/world.js'

type Body = Readonly<Record<string, unknown>>
export type Reply = { readonly status: number; readonly body: Body }
export type CallbackPath = 'started' | 'heartbeat' | 'completed'
export type Callback = {
  readonly path: CallbackPath
  /** As it stands in the path of the request; the token has one of its own. */
  readonly attempt_id: string
  readonly task_token: string
  readonly body: Body
}

export type CommandDeps = ClaimDeps & AttemptDeps & RunDeps

export type ApiDoor = {
  readonly process: Process
  readonly callback: (callback: Callback) => Promise<Reply>
  readonly command: (command: (deps: CommandDeps) => Promise<object>) => Promise<Reply>
}

export type WorkerDoor = {
  readonly process: Process
  readonly take: (dispatches: readonly Dispatch[]) => Promise<readonly SendAnswer[]>
  /** Tells it which attempts are to stop. Answers a status. */
  readonly cancel: (attempt_ids: readonly string[]) => Promise<number>
}
