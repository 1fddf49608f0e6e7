// What the fold needs to know about one type of event. Each noun has a table of these, and the compiler checks that every type of
// the noun is in it.

import type { LedgerEvent } from '../../events/event.js'
import type { ListReference } from '../../events/value.js'
import type { Hints } from '../hint.js'
import type { Moment, Refusal } from '../outcome.js'
import type { KeyedRow } from '../tables.js'
import type { WorkingSet } from '../working-set.js'

/** A task is named as in a path. */
export type Entity = { readonly entity_kind: string; readonly entity_id: string }

export type EventFold<Event> = {
  /** What the event is about, for people who look refusals up. */
  readonly entity: (event: Event) => Entity
  /** Rows that the fold may read. Left out: it reads rows of tables that are in memory as a whole. */
  readonly keys?: (event: Event, rows: WorkingSet, hints: Hints) => readonly KeyedRow[]
  /** Folding what comes before may lead to further keys: a row that was made just now says what else is read, or the run that held
   *  its rows has just ended. For all others, what was named once is all. */
  readonly may_name_more?: true
  /** Lists by content that the event names. Where one of them is missing, the event is quarantined. */
  readonly lists?: (event: Event) => readonly ListReference[]
  /** Lists by content that rows of it name. */
  readonly listsOfRows?: (event: Event, rows: WorkingSet) => readonly string[]
  /** Asked before anything else about the event, and also where its trigger was not applied. */
  readonly judge?: (event: Event, rows: WorkingSet, moment: Moment) => 'duplicate' | Refusal | undefined
  /** Applies the event, or says why not. */
  readonly fold: (rows: WorkingSet, event: Event, moment: Moment) => Refusal | undefined
  /** A refusal makes no row: there are many, and it is enough that they are counted. */
  readonly has_no_refusal_row?: true
}

export type FoldsOf<Event extends LedgerEvent> = {
  readonly [Type in Event['event_type']]: EventFold<Extract<Event, { readonly event_type: Type }>>
}

/** Says what is wrong with parts of a batch before any part of it is folded, because they are taken as a whole or not at all. */
export type BatchJudge = {
  /** A batch with one of these is judged. */
  readonly types: ReadonlySet<LedgerEvent['event_type']>
  /** `batch` has undefined for an event that is repeated or quarantined. The answer is about any event at its place in the
   *  batch, one that is repeated too. */
  readonly judge: (rows: WorkingSet, batch: readonly (LedgerEvent | undefined)[]) => Verdict | undefined
}

export type Verdict = (event: LedgerEvent, index: number) => Refusal | undefined

/** Judges the parts of a deploy that are of its noun, in their order: each by what the parts before it will have made. */
export type DeployJudge = (
  rows: WorkingSet,
  locations: DeployedLocations,
) => { readonly judge: (event: LedgerEvent) => Refusal | undefined }

export type DeployedLocations = {
  /** 0: there is no such location. */
  readonly versionOf: (location_name: string) => number
}
