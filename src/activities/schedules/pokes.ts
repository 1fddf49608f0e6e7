// After a publish: starts the loops of schedules that are new, and pokes those whose definition or status changed. Those
// that only ticked are left alone: their timers see to it. A thousand at once are one deploy, so few go out at a time; what
// fails is dropped, for ensureLoops finds it.

import type { ChangedEntities } from '../../turn/watch.js'
import type { Workspace } from '../../turn/workspace.js'
import type { ScheduleDefinitionRow } from '../../projections/schedule-table.js'

export type SchedulePokesDeps = {
  /** false: it runs already, and waits for what it did not find. */
  readonly start: (definition: ScheduleDefinitionRow) => Promise<boolean>
  readonly poke: (schedule_id: string) => Promise<unknown>
  readonly at_once: number
}

export type SchedulePokes = {
  readonly onPublish: (workspace: Pick<Workspace, 'rows' | 'snapshot'>, changed: ChangedEntities) => void
  readonly settled: () => Promise<void>
}

export function createSchedulePokes({ start, poke, at_once }: SchedulePokesDeps): SchedulePokes {
  /** As each was when a publish last changed it. */
  const seen = new Map<string, string>()
  /** By id: what comes again meanwhile is one. */
  const waiting = new Map<string, () => Promise<unknown>>()
  const senders = new Set<Promise<void>>()

  async function send(): Promise<void> {
    for (;;) {
      const [first] = waiting
      if (first === undefined) return
      const [schedule_id, work] = first
      waiting.delete(schedule_id)
      await work().catch(() => undefined)
    }
  }

  return {
    onPublish({ rows, snapshot }, { schedule_ids }) {
      for (const schedule_id of schedule_ids) {
        const definition = rows.get('schedule_definitions', schedule_id)
        const state = rows.get('schedule_state', schedule_id)
        if (definition === undefined || state === undefined) continue
        const isDefinedNow = definition.row_version === snapshot?.revision.sequence
        const now = `${definition.schedule_name} ${definition.definition_version} ${state.status}`
        const before = seen.get(schedule_id)
        seen.set(schedule_id, now)
        if (isDefinedNow && definition.definition_version === 1 && before === undefined && state.status !== 'REMOVED') {
          waiting.set(schedule_id, async () => (await start(definition)) || poke(schedule_id))
        }
        // Of a process that has just come: what does not fire did not tick.
        else if (before === undefined ? isDefinedNow || state.status !== 'ACTIVE' : before !== now) {
          waiting.set(schedule_id, () => poke(schedule_id))
        }
      }
      for (let free = at_once - senders.size; free > 0 && senders.size < waiting.size; free--) {
        const sender = send().finally(() => senders.delete(sender))
        senders.add(sender)
      }
    },
    async settled() {
      waiting.clear()
      await Promise.all(senders)
    },
  }
}
