// After a publish: starts the loops of entities that are new, and pokes those whose definition or status changed. Those that
// only ticked are left alone: their timers see to it. A thousand at once are one deploy, so few go out at a time. What fails
// is sent again, a bounded number of times: ensureLoops finds most of the rest; a new name shows when the loop looks by itself.

import { messageOf } from '../../core/errors.js'
import { type Clock, SECOND_MS } from '../../core/time.js'
import type { ChangedEntities } from '../../turn/watch.js'
import type { Workspace } from '../../turn/workspace.js'
import type { EntityDescription, EntityKind } from './kind.js'

/** Of one kind. */
type EntityPokesDeps<Entity> = {
  readonly kind: Pick<EntityKind<Entity, never>, 'kind' | 'noun' | 'inRows' | 'describe'>
  /** false: it runs already, and waits for what it did not find. */
  readonly start: (entity: EntityDescription) => Promise<boolean>
  readonly poke: (entity_id: string) => Promise<unknown>
  readonly at_once: number
  /** Its sleep ends when the process does. */
  readonly clock: Pick<Clock, 'sleep'>
  readonly log: (message: string) => void
  /** Called for each poke that was not taken in any of its tries. */
  readonly onGivenUp?: () => void
}

type EntityPokes = {
  readonly onPublish: (workspace: Pick<Workspace, 'rows' | 'snapshot'>, changed: ChangedEntities) => void
  readonly settled: () => Promise<void>
}

/** Some two minutes, which is longer than a server takes to start again. */
const TRIES_MAX = 16
const AGAIN_FIRST_MS = SECOND_MS / 2
const AGAIN_LONGEST_MS = 10 * SECOND_MS

type Work = { readonly name: string; readonly send: () => Promise<unknown>; readonly tries: number }

export function createEntityPokes<Entity>({ kind, start, poke, at_once, clock, log, onGivenUp }: EntityPokesDeps<Entity>): EntityPokes {
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
      const [entity_id, work] = first
      waiting.delete(entity_id)
      try {
        await work.send()
      } catch (error) {
        await again(entity_id, { ...work, tries: work.tries + 1 }, error)
      }
    }
  }

  /** The sender waits, so that a server that does not answer gets no more requests the more there is to send. */
  async function again(entity_id: string, work: Work, error: unknown): Promise<void> {
    await clock.sleep(Math.min(AGAIN_FIRST_MS * 2 ** (work.tries - 1), AGAIN_LONGEST_MS))
    // What came meanwhile says the same, and has its own tries.
    if (isClosed || waiting.has(entity_id)) return
    if (work.tries < TRIES_MAX) waiting.set(entity_id, work)
    else {
      log(givenUpText(`${kind.kind} ${work.name}`, error))
      onGivenUp?.()
    }
  }

  return {
    onPublish({ rows, snapshot }, changed) {
      for (const entity_id of changed.get(kind.noun) ?? []) {
        const found = kind.inRows(rows, entity_id)
        if (found === undefined) continue
        const entity = kind.describe(found)
        const { name, mark, is_first_definition, is_over, is_ticking } = entity
        const isDefinedNow = entity.defined_in === snapshot?.revision.sequence
        const before = seen.get(entity_id)
        seen.set(entity_id, mark)
        if (isDefinedNow && is_first_definition && before === undefined && !is_over) {
          waiting.set(entity_id, { name, send: async () => (await start(entity)) || poke(entity_id), tries: 0 })
        }
        // Of a process that has just come: what does not fire did not tick.
        else if (before === undefined ? isDefinedNow || !is_ticking : before !== mark) {
          waiting.set(entity_id, { name, send: () => poke(entity_id), tries: 0 })
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

const givenUpText = (entity: string, error: unknown): string =>
  `Temporal has not taken a poke of the loop of the ${entity} in ${TRIES_MAX} tries: ${messageOf(error)}. ` +
  'No tick is lost: its page in Temporal shows what was before until the automation looks at its loops again, or until the loop looks by itself.'
