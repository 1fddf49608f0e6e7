// What the API asks of Temporal: to signal the workspace's loop, and whether it answers. Loaded on demand (api.ts): no answer
// that is made of tables needs it, and its client takes longer to load than all the rest of the API.

import type { Signalled } from '../activities/poke.js'
import { signalWorkspace } from '../activities/signal-workspace.js'
import type { Readiness } from '../api/http/deps.js'
import { messageOf } from '../core/errors.js'
import type { Scope } from '../core/ids.js'
import type { TemporalConfig } from './config.js'
import { openClient } from './temporal.js'

type ApiTemporal = {
  readonly signal: () => Promise<Signalled>
  readonly readiness: () => Promise<Readiness>
  readonly close: () => Promise<void>
}

const TIMEOUT_MS = 2_000

export function openApiTemporal(config: TemporalConfig, scope: Scope): ApiTemporal {
  const { client, close } = openClient(config)
  return {
    signal: () => signalWorkspace({ client, scope }),
    async readiness() {
      // Commands are durable without it, and wait for it.
      const what = { name: 'temporal', needed: false }
      try {
        const deadline = Date.now() + TIMEOUT_MS
        await client.connection.withDeadline(deadline, () => client.workflowService.getSystemInfo({}))
        return { ...what, ok: true, detail: 'it answers' }
      } catch (error) {
        return {
          ...what,
          ok: false,
          detail: `It does not answer: ${messageOf(error)} Commands are accepted, and carried out when it is back.`,
        }
      }
    },
    close,
  }
}
