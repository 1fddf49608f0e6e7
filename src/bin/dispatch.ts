// The way to the workers that the configuration names.

import { createDirectPort } from '../activities/direct.js'
import type { DispatchDeps, Dispatching } from './cloud-tasks.js'
import type { DispatchConfig } from './dispatch-config.js'

export async function openDispatch(config: DispatchConfig, deps: DispatchDeps): Promise<Dispatching> {
  if (config.kind === 'direct') return { port: createDirectPort(deps), close: () => Promise.resolve() }
  const { openCloudTasks } = await import('./cloud-tasks.js')
  return openCloudTasks(config, deps)
}
