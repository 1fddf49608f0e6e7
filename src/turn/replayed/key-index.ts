// Where the rows lie that a replay is done with: some twenty bytes a key, whatever its row holds. It keeps no key. What it
// answers are places where one may lie, and whoever reads there compares: a collision costs a read, and no row is mistaken.

import { TABLE_NAMES, type TableName } from '../../projections/tables.js'

export type KeyIndex = {
  /** Every place where the row of this key may lie, the one where it does among them: nearly always none, or that one. */
  readonly placesOf: (table: TableName, text: string) => readonly number[]
  readonly add: (table: TableName, text: string, place: number) => void
  /** The newest row of the key lies elsewhere now; false: there was no entry for where it lay. */
  readonly move: (table: TableName, text: string, from: number, to: number) => boolean
  readonly entryCount: () => number
}

/** Each grows for itself, so that what is copied at a time is small beside the whole. */
const SHARDS = 64
const SLOTS_MIN = 16
const LOAD_MAX = 0.75
const TWO_TO_32 = 0x1_0000_0000

/** Slot after slot from the one that the tag says. A tag of 0 is an empty slot. */
type Shard = { readonly tags: Uint32Array; readonly places: Float64Array; count: number }

const newShard = (slots: number): Shard => ({ tags: new Uint32Array(slots), places: new Float64Array(slots), count: 0 })

const SEEDS: ReadonlyMap<TableName, number> = new Map(TABLE_NAMES.map((table, number) => [table, number + 1]))

/** 38 bits: the shard above the tag. Quick rather than strong, for it decides nothing. */
export function digestOf(table: TableName, text: string): number {
  const seed = SEEDS.get(table) as number
  let first = 0x9e3779b9 ^ seed
  let second = 0x85ebca6b ^ seed
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    first = Math.imul(first ^ unit, 0x85ebca77)
    second = Math.imul(second ^ unit, 0xc2b2ae3d)
  }
  first = Math.imul(first ^ (first >>> 16), 0x85ebca6b) ^ Math.imul(second ^ (second >>> 13), 0xc2b2ae35)
  second = Math.imul(second ^ (second >>> 16), 0x85ebca6b) ^ Math.imul(first ^ (first >>> 13), 0xc2b2ae35)
  return (second >>> 26) * TWO_TO_32 + (first === 0 ? 1 : first >>> 0)
}

/** What lies at a dropped place is asked for no more, and its entry goes when its shard is full. */
export function createKeyIndex(isDropped: (place: number) => boolean): KeyIndex {
  const shards = Array.from({ length: SHARDS }, () => newShard(SLOTS_MIN))

  function insert({ tags, places }: Shard, tag: number, place: number): void {
    const mask = tags.length - 1
    let slot = tag & mask
    while (tags[slot] !== 0) slot = (slot + 1) & mask
    tags[slot] = tag
    places[slot] = place
  }

  /** Without what was dropped; of twice the size, unless half of it is free then. */
  function rebuilt(full: Shard): Shard {
    const kept: number[] = []
    for (const [slot, tag] of full.tags.entries()) if (tag !== 0 && !isDropped(full.places[slot] as number)) kept.push(slot)
    const shard = newShard(kept.length * 2 > full.tags.length ? full.tags.length * 2 : full.tags.length)
    for (const slot of kept) insert(shard, full.tags[slot] as number, full.places[slot] as number)
    shard.count = kept.length
    return shard
  }

  return {
    placesOf(table, text) {
      const digest = digestOf(table, text)
      const { tags, places } = shards[Math.floor(digest / TWO_TO_32)] as Shard
      const tag = digest >>> 0
      const mask = tags.length - 1
      let found: number[] | undefined
      for (let slot = tag & mask; tags[slot] !== 0; slot = (slot + 1) & mask) {
        if (tags[slot] !== tag) continue
        if (found === undefined) found = [places[slot] as number]
        else found.push(places[slot] as number)
      }
      return found ?? NONE
    },
    add(table, text, place) {
      const digest = digestOf(table, text)
      const number = Math.floor(digest / TWO_TO_32)
      let shard = shards[number] as Shard
      if (shard.count >= shard.tags.length * LOAD_MAX) {
        shard = rebuilt(shard)
        shards[number] = shard
      }
      insert(shard, digest >>> 0, place)
      shard.count += 1
    },
    move(table, text, from, to) {
      const digest = digestOf(table, text)
      const { tags, places } = shards[Math.floor(digest / TWO_TO_32)] as Shard
      const tag = digest >>> 0
      const mask = tags.length - 1
      for (let slot = tag & mask; tags[slot] !== 0; slot = (slot + 1) & mask) {
        if (tags[slot] !== tag || places[slot] !== from) continue
        places[slot] = to
        return true
      }
      return false
    },
    entryCount: () => shards.reduce((sum, { count }) => sum + count, 0),
  }
}

const NONE: readonly never[] = []
