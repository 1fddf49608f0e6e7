// After a publish: starts the loops of schedules that are new, and pokes those whose definition or status changed. Those
// that only ticked are left alone: their timers see to it. A thousand at once are one deploy, so few go out at a time. What
// fails is sent again, a bounded number of times: ensureLoops finds most of the rest, and a new name only at the next fire.

import { messageOf } from '../../core/errors.js'
import { type Clock, SECOND_MS } from '../../core/time.js'
import type { ScheduleDefinitionRow } from '../../projections/schedule-table.js'
import type { ChangedEntities } from '../../turn/watch.js'
import type { Workspace } from '../../turn/workspace.js'

type SchedulePokesDeps = {
  /** false: it runs already, and waits for what it did not find. */
  readonly start: (definition: ScheduleDefinitionRow) => Promise<boolean>
  readonly poke: (schedule_id: string) => Promise<unknown>
  readonly at_once: number
  /** Its sleep ends when the process does. */
  readonly clock: Pick<Clock, 'sleep'>
  readonly log: (message: string) => void
}

type SchedulePokes = {
  readonly onPublish: (workspace: Pick<Workspace, 'rows' | 'snapshot'>, changed: ChangedEntities) => void
  readonly settled: () => Promise<void>
}

/** Some two minutes, which is longer than a server takes to start again. */
const TRIES_MAX = 16
const AGAIN_FIRST_MS = SECOND_MS / 2
const AGAIN_LONGEST_MS = 10 * SECOND_MS

type Work = { readonly schedule_name: string; readonly send: () => Promise<unknown>; readonly tries: number }

export function createSchedulePokes({ start, poke, at_once, clock, log }: SchedulePokesDeps): SchedulePokes {
  /** As each was when a publish last changed it. */
  const seen = new Map<string, string>()
  /** By id: what comes again meanwhile is one. */
  const waiting = new Map<string, Work>()
  const senders = new Set<Promise<void>>()
  let isClosed = false

  async function send(): Promise<void> {
    for (;;) {
      const [first] = waiting
      if (first === undefined) return
      const [schedule_id, work] = first
      waiting.delete(schedule_id)
      try {
        await work.send()
      } catch (error) {
        await again(schedule_id, { ...work, tries: work.tries + 1 }, error)
      }
    }
  }

  /** Whoever sends waits with it: a server that does not answer is not asked the more, the more there is to say. */
  async function again(schedule_id: string, work: Work, error: unknown): Promise<void> {
    await clock.sleep(Math.min(AGAIN_FIRST_MS * 2 ** (work.tries - 1), AGAIN_LONGEST_MS))
    // What came meanwhile says the same, and has its own tries.
    if (isClosed || waiting.has(schedule_id)) return
    if (work.tries < TRIES_MAX) waiting.set(schedule_id, work)
    else log(givenUpText(work.schedule_name, error))
  }

  return {
    onPublish({ rows, snapshot }, changed) {
      for (const schedule_id of changed.get('SCHEDULE') ?? []) {
        const definition = rows.get('schedule_definitions', schedule_id)
        const state = rows.get('schedule_state', schedule_id)
        if (definition === undefined || state === undefined) continue
        const { schedule_name } = definition
        const isDefinedNow = definition.row_version === snapshot?.revision.sequence
        const now = `${schedule_name} ${definition.definition_version} ${state.status}`
        const before = seen.get(schedule_id)
        seen.set(schedule_id, now)
        if (isDefinedNow && definition.definition_version === 1 && before === undefined && state.status !== 'REMOVED') {
          waiting.set(schedule_id, { schedule_name, send: async () => (await start(definition)) || poke(schedule_id), tries: 0 })
        }
        // Of a process that has just come: what does not fire did not tick.
        else if (before === undefined ? isDefinedNow || state.status !== 'ACTIVE' : before !== now) {
          waiting.set(schedule_id, { schedule_name, send: () => poke(schedule_id), tries: 0 })
        }
      }
      for (let free = at_once - senders.size; free > 0 && senders.size < waiting.size; free--) {
        const sender = send().finally(() => senders.delete(sender))
        senders.add(sender)
      }
    },
    async settled() {
      isClosed = true
      waiting.clear()
      await Promise.all(senders)
    },
  }
}

const givenUpText = (schedule_name: string, error: unknown): string =>
  `Temporal has not taken a poke of the loop of the schedule ${schedule_name} in ${TRIES_MAX} tries: ${messageOf(error)}. ` +
  'No tick is lost: its page in Temporal shows what was before until the automation looks at its loops again, or until its next fire.'
