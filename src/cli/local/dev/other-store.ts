// Refuses to serve a workspace whose loops an automation of another store serves on the same Temporal server. Each would take turns
// of the other, and neither would notice.

import { Connection } from '@temporalio/client'
import type { Environment } from '../../../bin/config.js'
import { clientOptions } from '../../../bin/temporal.js'
import { isIdentityOfStore } from '../../../bin/worker-identity.js'
import { messageOf, unavailable } from '../../../core/errors.js'
import { TEMPORAL_LOOK_MS_MAX } from '../../../core/loop-limits.js'
import { taskQueues } from '../../../core/names.js'
import { SECOND_MS } from '../../../core/time.js'
import { UsageError } from '../../exit-code.js'
import { scopeIn } from './scope.js'
import { type FoundTemporal, temporalConfigIn } from './temporal.js'

/** Temporal lists a poller for five minutes, with the time at which its last poll began. On an idle queue a poll takes a minute, so a
 *  poller that began none for longer than that has ended. */
const SILENT_MS_MAX = 70 * SECOND_MS

const WORKFLOW_QUEUE = 1

/** A poller of an earlier `servo dev` on the same store is not refused, however recently it polled. */
export async function refuseOtherStore(found: FoundTemporal, environment: Environment, store: string): Promise<void> {
  if (found.kind === 'program') return
  const { address } = found
  const scope = scopeIn(environment)
  const pollers = await readPollers(address, environment, taskQueues(scope).loops)
  const other = pollers.find(({ identity, silent_ms }) => silent_ms <= SILENT_MS_MAX && !isIdentityOfStore(identity, store))
  if (other === undefined) return
  const { identity, silent_ms } = other
  const seconds = Math.max(0, Math.round(silent_ms / SECOND_MS))
  throw new UsageError(
    `TEMPORAL_ADDRESS names the Temporal server ${address}, where the workspace ${scope.workspace_id} of tenant ${scope.tenant_id} is served from another store: ${identity} polled its queue ${seconds} s ago. Two stores under one workspace name take each other's work.
Let \`servo dev\` start a server of its own: \`unset TEMPORAL_ADDRESS\`. Or give this one a workspace of its own: \`export SERVO_WORKSPACE=NAME\` (\`--workspace\` of \`servo automation\` and \`servo api\`). If ${identity} has ended, start again in a minute.`,
  )
}

type Poller = { readonly identity: string; readonly silent_ms: number }

async function readPollers(address: string, environment: Environment, queue: string): Promise<readonly Poller[]> {
  const config = temporalConfigIn(address, environment)
  try {
    const connection = await Connection.connect({ ...clientOptions(config), connectTimeout: TEMPORAL_LOOK_MS_MAX })
    try {
      const { pollers } = await connection.withDeadline(Date.now() + TEMPORAL_LOOK_MS_MAX, () =>
        connection.workflowService.describeTaskQueue({
          namespace: config.namespace,
          taskQueue: { name: queue },
          taskQueueType: WORKFLOW_QUEUE,
        }),
      )
      const now = Date.now()
      return (pollers ?? []).map(({ identity, lastAccessTime }) => ({
        identity: identity ?? '',
        silent_ms: now - Number(lastAccessTime?.seconds ?? 0) * SECOND_MS,
      }))
    } finally {
      await connection.close()
    }
  } catch (error) {
    throw unavailable(`Temporal at ${address} did not say who polls the task queue ${queue}: ${messageOf(error)}.`, error)
  }
}
