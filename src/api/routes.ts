// All routes of the API, by whose token opens them: nobody's, an attempt's, that of the API.

import { addAssetRoutes } from './assets.js'
import { addAttemptRoutes } from './attempts.js'
import { addCodeLocationRoutes } from './code-locations.js'
import { addConflictRoutes } from './conflicts.js'
import { API_PREFIX } from './contract/path.js'
import type { Api, RouteDeps } from './http/deps.js'
import { requireIdentity } from './http/identity.js'
import { requireApiToken } from './http/principal.js'
import { traceRequests } from './http/traced.js'
import { addPoolRoutes } from './pools.js'
import { addRetentionRoutes } from './retention.js'
import { addRunAttemptRoutes } from './run-attempts.js'
import { addCancelRoutes } from './run-cancels.js'
import { addRunHistoryRoutes } from './run-history.js'
import { addRerunRoutes } from './run-reruns.js'
import { addRunRoutes } from './runs.js'
import { addScheduleCommands } from './schedule-commands.js'
import { addSchedulePreviews } from './schedule-previews.js'
import { addScheduleRoutes } from './schedules.js'
import { addSystemRoutes } from './system.js'
import { addWhyRoute } from './task-why.js'

export async function addRoutes(app: Api, deps: RouteDeps): Promise<void> {
  addSystemRoutes(app, deps)
  await app.register(async (scope) => addCallbacks(scope as Api, deps), { prefix: API_PREFIX })
  await app.register(async (scope) => addCommandsAndReads(scope as Api, deps), { prefix: API_PREFIX })
}

/** Their token is that of an attempt: each route reads it. */
function addCallbacks(app: Api, deps: RouteDeps): void {
  app.addHook('preParsing', async (request) => requireIdentity(request as never, deps.callback_proof))
  addAttemptRoutes(app, deps)
}

function addCommandsAndReads(app: Api, deps: RouteDeps): void {
  // After the limit, which counts wrong tokens too, and before a body is read.
  app.addHook('preParsing', async (request) => requireApiToken(request as never, deps.api_tokens))
  traceRequests(app as never, deps)
  for (const addNoun of Object.values(NOUN_ROUTES).flat()) addNoun(app, deps)
}

/** A line for each noun, in the order of the OpenAPI document. */
const NOUN_ROUTES = {
  run: [addRunRoutes, addRunAttemptRoutes, addRunHistoryRoutes, addWhyRoute, addCancelRoutes, addRerunRoutes],
  asset: [addAssetRoutes, addCodeLocationRoutes],
  schedule: [addScheduleRoutes, addScheduleCommands, addSchedulePreviews],
  pool: [addPoolRoutes],
  workspace: [addRetentionRoutes, addConflictRoutes],
} satisfies Readonly<Record<string, readonly ((app: Api, deps: RouteDeps) => void)[]>>
