// What commands know of a noun that is defined: by a deploy or by the API, under a name, with a version, and with a status that
// people change. How it is made, changed, renamed, removed, deployed, paused and resumed is the same for every noun, and is in this
// folder; what is its own a noun says in one record (commands/schedule/noun.ts).

import { type DefinedWord, definitionHash } from '../../core/keys.js'
import type { DefinitionOf, Fields } from '../../events/fields.js'
import type { AssetGraph } from '../../readers/assets.js'
import type { NotFound } from '../../readers/not-found.js'
import type { View } from '../../readers/reader.js'
import type { Fault } from '../problem.js'

/** Members by name, in the one form that fields give them. */
export type Definition = Readonly<Record<string, unknown>>

/** One that is defined, as far as commands look at it. */
export type Entity<D = Definition> = {
  readonly id: string
  readonly name: string
  readonly definition: D
  /** Of the code location that deploys it; null: it was made by the API. */
  readonly location_name: string | null
  readonly definition_version: number
  readonly status: string
  readonly state_version: number
  /** Since when it is paused; null: it is not. */
  readonly paused_at: number | null
  readonly status_changed_by: string | null
  readonly status_reason: string | null
}

export type NounOf<F extends Fields, D> = {
  /** In sentences and commands, such as "schedule". */
  readonly word: DefinedWord
  /** What the types of its events begin with. */
  readonly event_label: string
  /** Its member in a deploy. */
  readonly plural: string
  readonly id_member: string
  readonly name_member: string
  readonly fields: F
  readonly entities: (view: View | undefined) => Promise<readonly Entity<D>[]>
  /** Removed ones by their id alone, because their name is free. */
  readonly find: (view: View | undefined, id_or_name: string) => Promise<Entity<D> | NotFound>
  /** All that is wrong with a definition, by itself and with the assets as they are or will be. */
  readonly faults: (graph: AssetGraph, definition: D, now: number) => readonly Fault[]
  /** Of a definition that is taken all the same. */
  readonly warnings: (definition: D) => readonly string[]
  readonly sentences: NounSentences
}

/** Ends of sentences that are its own. */
type NounSentences = {
  /** What may be done here to one that a code location defines. */
  readonly owned: string
  /** Why its state may have another version: "it has ticked". */
  readonly moved: string
  /** What a resume lets it do: "fire again". */
  readonly resumed: string
}

/** For code that serves every noun. */
export type Noun = NounOf<Fields, Definition>

/** A noun's own functions take its own definitions, and are given no others. */
export const defineNoun = <F extends Fields>(noun: NounOf<F, DefinitionOf<F>>): Noun => noun as unknown as Noun

/** A description is no part of the hash. */
export const isAsDefined = (entity: Entity, name: string, definition: Definition): boolean =>
  entity.name === name &&
  definitionHash(entity.definition) === definitionHash(definition) &&
  entity.definition['description'] === definition['description']
