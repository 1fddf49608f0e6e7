// A loop of another workspace that lands here must not be answered with this workspace's rows. On queues of their own none does;
// on the queue that all workspaces shared once, one may until it has moved (ADR 0081), and the call is made again then.

import { ApplicationFailure } from '@temporalio/activity'
import type { Scope } from '../core/ids.js'

export function servedScope({ scope }: { readonly scope: Scope }, asked: Scope): void {
  if (asked.tenant_id === scope.tenant_id && asked.workspace_id === scope.workspace_id) return
  throw ApplicationFailure.create({
    type: 'wrong_workspace',
    message:
      `This process serves workspace ${scope.workspace_id} of tenant ${scope.tenant_id}, and was asked for ` +
      `${asked.workspace_id} of ${asked.tenant_id}. Its loop is on a task queue of an older Servo: an automation of that workspace moves it.`,
  })
}
