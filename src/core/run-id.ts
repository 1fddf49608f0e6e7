// Ids that follow from what they name, and that a stranger cannot guess: HMACs with the workspace's secret. They are
// recorded in the event that first uses them, so that a replay needs no secret.

import { hmacSha256 } from './hash.js'
import type { Scope } from './ids.js'
import { type AttemptRef, base32Lower } from './keys.js'
import { ulidFromBytes } from './ulid.js'

export type Secret = {
  /** Names the secret in events; the secret itself is never written anywhere. */
  readonly secret_key_id: string
  readonly secret: string | Uint8Array
}

export const runId = ({ secret }: Secret, { tenant_id, workspace_id }: Scope, run_key: string): string =>
  `run_${base32Lower(hmacSha256(secret, `${tenant_id}:${workspace_id}:${run_key}`).subarray(0, 16))}`

export const attemptId = ({ secret }: Secret, { run_id, task_key, attempt }: AttemptRef): string =>
  ulidFromBytes(hmacSha256(secret, `attempt/${run_id}/${task_key}/${attempt}`).subarray(0, 16))
