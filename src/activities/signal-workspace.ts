// The signal that a poke is, by Temporal's client; poke.ts says when it is sent. Apart from it, because the client takes
// longer to load than all of the API, which pokes and is to answer at once (bin/api-temporal.ts).

import { type Client, isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client'
import { messageOf, unavailable } from '../core/errors.js'
import type { Scope } from '../core/ids.js'
import { workflowId } from '../core/names.js'
import { pokeSignal } from '../workflows/contract.js'
import type { Signalled } from './poke.js'

/** Rejects with what Temporal says, where it does not take it. */
export async function signalWorkspace({ client, scope }: { readonly client: Client; readonly scope: Scope }): Promise<Signalled> {
  try {
    await client.workflow.getHandle(workflowId(scope, 'workspace')).signal(pokeSignal)
    return 'sent'
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'no-loop'
    throw unavailable(isGrpcServiceError(error) ? error.details || error.message : messageOf(error), error)
  }
}
