// Everything that a loop may call, made from one record of dependencies: tests and processes hand in what they have.

import { createMaintenance, type MaintenanceDeps } from './maintenance.js'
import { createScheduleCalls, type ScheduleCallDeps } from './schedules/call.js'
import { createWorkspaceActivities, type WorkspaceActivityDeps } from './workspace.js'

type ActivityDeps = WorkspaceActivityDeps & MaintenanceDeps & ScheduleCallDeps

export type Activities = ReturnType<typeof createActivities>

export const createActivities = (deps: ActivityDeps) => ({
  ...createWorkspaceActivities(deps),
  ...createMaintenance(deps),
  ...createScheduleCalls(deps),
})
