// The page of Temporal's UI that lists the loops of a workspace. Without the namespace in its address the UI opens `default`, which
// has none.

import type { Scope } from '../../../core/ids.js'
import { NAMESPACE_DEFAULT } from '../../../core/names.js'

/** The columns of the list are kept by the browser, and no address sets them: docs/temporal.md says how to. */
export function loopsPage(ui_url: string, { tenant_id, workspace_id }: Scope, namespace = NAMESPACE_DEFAULT): string {
  const query = `ServoTenant="${tenant_id}" AND ServoWorkspace="${workspace_id}" AND ExecutionStatus="Running"`
  return `${ui_url}/namespaces/${namespace}/workflows?query=${encodeURIComponent(query)}`
}
