// Loads what sends spans, in processes where somebody asked for it. Elsewhere nothing of it is loaded, and nothing is done.

import type { Scope } from '../core/ids.js'
import type { Attributes, Tracing } from '../telemetry/tracing.js'

type Told = {
  readonly traces_url?: string | undefined
  readonly service_name: 'servo-api' | 'servo-automation' | 'servo-worker'
  readonly attributes: Attributes
  readonly log: (message: string) => void
}

export const attributesOf = ({ tenant_id, workspace_id }: Scope): Attributes => ({
  'servo.tenant': tenant_id,
  'servo.workspace': workspace_id,
})

export async function openTracing({ traces_url, ...told }: Told): Promise<Tracing | undefined> {
  if (traces_url === undefined) return undefined
  const { startExport } = await import('../telemetry/open-telemetry.js')
  return startExport({ ...told, url: traces_url, is_shared: false })
}

/** Where the API of OpenTelemetry keeps what is registered, for all of its copies in a process. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')

/** After the user's module is loaded: one that has registered a tracer of its own is asked for it, endpoint or not. */
export async function openSharedTracing({ traces_url, ...told }: Told): Promise<Tracing | undefined> {
  const registered = (globalThis as { readonly [REGISTERED]?: { readonly trace?: unknown } })[REGISTERED]
  if (registered?.trace !== undefined) return (await import('../telemetry/shared.js')).sharedSpans()
  if (traces_url === undefined) return undefined
  const { startExport } = await import('../telemetry/open-telemetry.js')
  return startExport({ ...told, url: traces_url, is_shared: true })
}
