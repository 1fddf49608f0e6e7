// The bundle's list: what Temporal finds by name.

export { maintenanceLoop } from './maintenance.js'
export { workspaceLoop } from './workspace.js'
