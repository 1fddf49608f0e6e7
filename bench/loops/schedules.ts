// Schedules for benchmarks of their loops: defined in the ledger itself, many in a batch, and folded by the automation.

import { openAppender, openDeps, openReader } from '../../src/bin/deps.js'
import { openClient, type TemporalClient } from '../../src/bin/temporal.js'
import { stampNow } from '../../src/commands/submit.js'
import { definedKey, definitionHash } from '../../src/core/keys.js'
import { NAMESPACE_DEFAULT } from '../../src/core/names.js'
import { newUlid } from '../../src/core/ulid.js'
import { withDefaults } from '../../src/events/fields.js'
import { SCHEDULE_FIELDS } from '../../src/events/schedule-definition.js'
import { readAll } from '../../src/readers/pages.js'
import { asset } from '../../src/sdk/asset.js'
import { untilSeen } from '../../test/fixtures/until.js'
import { type Measured, withSystem } from '../run/system.js'

export const SCOPE = { tenant_id: 'default', workspace_id: 'default' }
const ASSET_KEY = 'ticked'
export const SCHEDULE_SLOTS = 64
const DEFINED_AT_ONCE = 250
const SETTLED_WITHIN_MS = 600_000
/** A count goes through the list of all: often, it would be what is measured. */
const LOOK_EVERY_MS = 2_000

export type Scheduled = Measured & {
  readonly deps: Awaited<ReturnType<typeof openDeps>>
  readonly reader: ReturnType<typeof openReader>
  readonly temporal: TemporalClient
}

/** One asset that does nothing, and a client of its Temporal server. */
export async function withSchedules(work: (system: Scheduled) => Promise<void>): Promise<void> {
  const ticked = asset({ key: ASSET_KEY, deps: [], run: () => undefined })
  await withSystem([ticked], SCHEDULE_SLOTS, async (system) => {
    const deps = await openDeps({ ...SCOPE, store: system.store })
    const temporal = openClient({ address: system.environment['TEMPORAL_ADDRESS'] ?? '', namespace: NAMESPACE_DEFAULT })
    try {
      await work({ ...system, deps, reader: openReader(deps), temporal })
    } finally {
      await temporal.close()
      await deps.close()
    }
  })
}

/** Answers their ids, when all of them are published. */
export async function defineSchedules(system: Scheduled, count: number, cronOf: (i: number) => string): Promise<readonly string[]> {
  const { deps, reader, request } = system
  const appender = await openAppender(deps)
  const schedule_ids: string[] = []
  for (let first = 0; first < count; first += DEFINED_AT_ONCE) {
    const drafts = Array.from({ length: Math.min(DEFINED_AT_ONCE, count - first) }, (_, i) => {
      const schedule_id = newUlid(deps.clock.now(), deps.random)
      schedule_ids.push(schedule_id)
      const definition = withDefaults(SCHEDULE_FIELDS, { cron_expressions: [cronOf(first + i)], asset_selection: [ASSET_KEY] })
      return {
        event_type: 'ScheduleDefined' as const,
        idempotency_key: definedKey('schedule', schedule_id, 'bench'),
        payload: { schedule_id, schedule_name: `schedule-${first + i}`, definition_hash: definitionHash(definition), definition },
      }
    })
    await appender.append(stampNow({ ...deps, appender }, drafts, 'servo/api'))
  }
  // The API pokes the workspace's loop where it is asked for a run; what is appended here does not.
  await request([ASSET_KEY])
  const defined = async () => {
    const view = await reader.latest()
    return view !== undefined && (await readAll(view, 'schedule_definitions')).length === count
  }
  await untilSeen('all schedules are defined', defined, SETTLED_WITHIN_MS)
  return schedule_ids
}

/** Each has had its first look, by what Temporal lists. */
export async function untilLoopsStand({ temporal }: Scheduled, count: number): Promise<void> {
  const query = 'ServoKind = "schedule" AND ServoStatus = "ACTIVE" AND ExecutionStatus = "Running"'
  const stand = async () => {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    return (await temporal.client.workflow.count(query)).count === count
  }
  await untilSeen(`${count} loops stand`, stand, SETTLED_WITHIN_MS)
}
