// Everything that a loop may call, made from one record of dependencies: tests and processes hand in what they have.

import { createEntityCalls, type EntityCallDeps } from './entities/kinds.js'
import { createMaintenance, type MaintenanceDeps } from './maintenance.js'
import { createWorkspaceActivities, type WorkspaceActivityDeps } from './workspace.js'

type ActivityDeps = WorkspaceActivityDeps & MaintenanceDeps & EntityCallDeps

export type Activities = ReturnType<typeof createActivities>

export const createActivities = (deps: ActivityDeps) => ({
  ...createWorkspaceActivities(deps),
  ...createMaintenance(deps),
  ...createEntityCalls(deps),
})
