// What a kind of entity (schedules; sensors and backfills come next) plugs into the kit of entity loops. The kit appends commands,
// asks for turns, words outcomes, and starts, pokes and repairs loops; a kind says what its entities are and reads.
//
// A new kind: an object of this type beside schedule.ts, its line and its activity in kinds.ts, a declaration of its loop in
// src/workflows.

import type { RunDeps } from '../../commands/run-request.js'
import type { Submit } from '../../commands/submit.js'
import type { EntityLoopKind } from '../../core/names.js'
import type { WorkingSet } from '../../projections/working-set.js'
import type { View } from '../../readers/reader.js'
import type { Asked, Outcome } from '../../readers/wait.js'
import type { ChangedEntities } from '../../turn/watch.js'
import type { CommandAnswer, EntityCommand, EntityPage, WORKFLOW_TYPES } from '../../workflows/contract.js'

/** Kinds whose loop is there. */
export type StartedEntityKind = EntityLoopKind & keyof typeof WORKFLOW_TYPES

export type EntityKind<Entity, Command extends EntityCommand> = {
  readonly kind: StartedEntityKind
  /** Under which a publish names what it changed. */
  readonly noun: Parameters<ChangedEntities['get']>[0]
  readonly find: (view: View | undefined, entity_id: string) => Promise<Entity | undefined>
  /** Those that are over, too: that is what ends a loop. */
  readonly readAll: (view: View | undefined) => Promise<readonly Entity[]>
  /** As many loops may be due at one instant. */
  readonly count: (view: View) => Promise<number>
  /** Out of the turn's memory, after a publish. */
  readonly inRows: (rows: Pick<WorkingSet, 'get'>, entity_id: string) => Entity | undefined
  readonly describe: (entity: Entity) => EntityDescription
  /** The first two instants that no decision covers, due or not; fewer: there are no more. */
  readonly dueAt: (entity: Entity) => readonly number[]
  /** Appends what a command asks for. Rejects only where it may be tried again. */
  readonly append: (deps: AppendDeps, view: View | undefined, entity_id: string, command: Command) => Promise<Appended>
  /** What an appended command came to. A problem is a sentence without "the command was not carried out". */
  readonly answer: (view: View, entity_id: string, command: Command, outcome: Outcome | undefined) => Promise<CommandAnswer>
  /** How it stands, for its page. */
  readonly report: (entity: Entity, view: View, now: number) => Promise<EntityStanding>
}

export type AppendDeps = RunDeps & { readonly submit: Submit }

/** `pending`: what to wait for; undefined: it was appended before, and has its outcome. */
export type Appended = { readonly pending: Asked | undefined } | { readonly problem: string }

export type EntityDescription = {
  readonly entity_id: string
  readonly name: string
  /** The loop's line in Temporal, which it is started with. */
  readonly summary: string
  /** Of the rows. The page says ERROR where something is wrong with it. */
  readonly status: string
  /** It has no loop any more. */
  readonly is_over: boolean
  /** What the page rests on apart from instants: where it changes, the loop is poked. */
  readonly mark: string
  /** The revision that has its definition, and whether that is the first one. */
  readonly defined_in: number
  readonly is_first_definition: boolean
  /** Its rows change by the clock alone, of which the loop's own timer takes care. */
  readonly is_ticking: boolean
  /** Something of it was decided before. */
  readonly has_fired: boolean
}

export type EntityStanding = {
  /** ERROR instead of the rows' status, where something is wrong. */
  readonly status: string
  readonly page: EntityPage
  /** What the loop's timer waits for. */
  readonly timer: string
}
