// What people do to schedules, at any time and with any clock: they define, edit, pause, resume, trigger and remove them,
// deploy the assets that these select, and cancel runs. Some say a thing twice.

import { canonicalJson } from '../../../src/core/canonical.js'
import { definitionHash } from '../../../src/core/keys.js'
import { SECOND_MS } from '../../../src/core/time.js'
import type { LedgerEvent } from '../../../src/events/event.js'
import type { ScheduleDefinition } from '../../../src/events/schedule-definition.js'
import { createReader } from '../../../src/readers/reader.js'
import type { Random } from '../../fixtures/random.js'
import { createWriter } from '../../fixtures/roles.js'
import { createSpeaker, type Speaker, ulidOf } from '../../fixtures/say.js'
import type { Process, World } from '../../fixtures/world.js'
import { type Actor, exponential } from '../actor.js'
import { CRONS, UNREADABLE, ZONES } from './crons.js'

const SCHEDULES = ['one', 'two', 'three', 'four'].map((name) => ulidOf(`simulated schedule ${name}`))

/** What one of them has made so far is what the others edit, too. */
export type Shared = { readonly defined: Set<string> }

function drawDefinition(random: Random): Partial<ScheduleDefinition> {
  return {
    cron_expressions: random.isTrue(0.2) ? [random.pick(CRONS), random.pick(CRONS)] : [random.pick(CRONS)],
    timezone: random.pick(ZONES),
    asset_selection: [random.pick(['a', 'b+', '*', 'a'])],
    catchup_window_minutes: random.pick([1, 5, 1_440, 20_000]),
    max_catchup_ticks: random.pick([1, 3, 3, 20]),
    catch_up_on_resume: random.isTrue(0.3),
    overlap_policy: random.isTrue(0.25) ? 'SKIP' : 'ALLOW',
    default_status: random.isTrue(0.1) ? 'PAUSED' : 'ACTIVE',
    ...(random.isTrue(0.08) ? random.pick(UNREADABLE) : {}),
  }
}

export const createPeople = (world: World, name: string, options: Actor['options'], shared: Shared): Actor => ({
  name,
  options,
  think_ms: (random) => (shared.defined.size === 0 ? 500 : exponential(25 * SECOND_MS)(random)),
  begin(process) {
    const { append } = createWriter(world, process)
    const say = createSpeaker()
    let isDeployed = false
    return async () => {
      if (!isDeployed) {
        await append([
          say.locationDeployed('main', 0, {}, said(process)),
          say.assetDefined('a', {}, 'main', said(process)),
          // Everything is requested, and one thing runs at a time: this is about what is requested.
          say.poolDefined('global', 1, said(process)),
        ])
        isDeployed = true
      }
      const events = await draw(process, say, shared)
      if (events.length === 0) return
      await append(events)
      if (process.random.isTrue(0.1)) await append(events)
    }
  },
})

/** Ids and requests of its own, whoever said how much before it. */
const said = ({ clock, random }: Process) => {
  const request = `r${random.below(1_000_000_000)}`
  return { at: Math.floor(clock.now()), request, event_id: ulidOf(request) }
}

async function draw(process: Process, say: Speaker, { defined }: Shared): Promise<readonly LedgerEvent[]> {
  const { random } = process
  const schedule_id = random.pick(SCHEDULES)
  const how = said(process)
  if (!defined.has(schedule_id) || random.isTrue(0.3)) {
    defined.add(schedule_id)
    return [say.scheduleDefined(schedule_id, drawDefinition(random), {}, how)]
  }
  switch (random.pick(['pause', 'pause', 'resume', 'resume', 'resume', 'trigger', 'deploy', 'deploy', 'cancel', 'remove'] as const)) {
    case 'pause':
      return [say.scheduleStatusChanged(schedule_id, 'PAUSED', how)]
    case 'resume':
      return [say.scheduleStatusChanged(schedule_id, 'ACTIVE', how)]
    case 'trigger':
      return [say.scheduleTriggered(schedule_id, how.request, 1 + random.below(3), Math.floor(how.at / SECOND_MS) * SECOND_MS, how)]
    case 'deploy':
      return deployment(say, how, random.isTrue(0.5))
    case 'cancel':
      return cancel(process, say, how)
    case 'remove':
      return random.isTrue(0.1) ? [say.scheduleRemoved(schedule_id, how)] : []
  }
}

/** What a schedule selects comes and goes. */
function deployment(say: Speaker, how: ReturnType<typeof said>, isThere: boolean): readonly LedgerEvent[] {
  const b = { asset_key: 'b', deps: [] }
  if (isThere) return [say.assetDefined('b', {}, 'main', how)]
  return [say.assetRemoved('b', definitionHash(JSON.parse(canonicalJson(b)) as typeof b), 'main', how)]
}

async function cancel({ store, files, random }: Process, say: Speaker, how: ReturnType<typeof said>): Promise<readonly LedgerEvent[]> {
  const where = [{ column: 'state', in: ['PENDING', 'PLANNED', 'RUNNING'] }] as const
  const open = await (await createReader({ store, files }).latest())?.page('runs', { where, limit: 20 })
  if (open === undefined || open.rows.length === 0) return []
  return [say.runCancelRequested(String(random.pick(open.rows)['run_id']), how)]
}
