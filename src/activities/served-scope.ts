// A loop of another workspace that lands here by mistake must not be answered with this workspace's rows.

import { ApplicationFailure } from '@temporalio/activity'
import type { Scope } from '../core/ids.js'

export function servedScope({ scope }: { readonly scope: Scope }, asked: Scope): void {
  if (asked.tenant_id === scope.tenant_id && asked.workspace_id === scope.workspace_id) return
  throw ApplicationFailure.create({
    type: 'wrong_workspace',
    message:
      `This process serves workspace ${scope.workspace_id} of tenant ${scope.tenant_id}, and was asked for ` +
      `${asked.workspace_id} of ${asked.tenant_id}. Give each workspace a Temporal namespace, or an automation process, of its own.`,
  })
}
