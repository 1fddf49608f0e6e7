// The bundle's list: what Temporal finds by name.

export { maintenanceLoop } from './maintenance.js'
export { scheduleLoop } from './schedule.js'
export { workspaceLoop } from './workspace.js'
