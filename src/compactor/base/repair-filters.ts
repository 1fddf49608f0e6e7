// Rebuilds filters that are damaged or gone, under their own names, so that older revisions have them back too. This is the one
// exception to "written once", and it touches no filter that can be opened.

import { isOperatingError, messageOf } from '../../core/errors.js'
import { TABLE_NAMES, type TableName, tableNamed } from '../../projections/tables.js'
import { CREATE, type ObjectStore } from '../../storage/object-store.js'
import { collectDigests, filterThatAdmitsAll } from '../../tables/bloom.js'
import { openColdList } from '../../tables/cold/list.js'
import { damagedFiltersOf } from '../../tables/damaged-filters.js'
import { createFilterCache } from '../../tables/lookup.js'
import { type Checkpoint, checkpointName, type Part, type Pointer, parseCheckpoint } from '../../tables/revision.js'
import { readDocument, readPointer } from '../../tables/snapshot.js'
import { reachKept } from '../collect.js'
import type { PublishDeps } from '../publish.js'
import { buildFilterOver, partsByFilter } from './filters.js'
import { FILTER_ENDING } from './write-part.js'

type RepairDeps = Pick<PublishDeps, 'store' | 'files'> & { readonly log?: ((message: string) => void) | undefined }

type RepairRequest = {
  /** Opens every filter that a revision names which can still be opened. Otherwise only those are looked at that this process has met. */
  readonly looks_at_all?: boolean
}

/** Makes the bytes of one filter again. */
type Build = () => Promise<Uint8Array>

/** Answers how many were rebuilt. A filter that cannot be rebuilt is left for the next call, and holds nothing else up. */
export async function repairFilters(deps: RepairDeps, { looks_at_all = false }: RepairRequest = {}): Promise<number> {
  const damaged = damagedFiltersOf(deps.store)
  if (!looks_at_all && damaged.names().length === 0) return 0
  const { published, server_time } = await readPointer(deps.store)
  if (published === undefined) return 0
  const { pointer } = published
  const checkpoint = await readDocument(deps.store, checkpointName(pointer.checkpoint.name), parseCheckpoint)
  const builds = await buildsOf(deps, checkpoint)
  if (looks_at_all) {
    for (const name of await olderFilters(deps, pointer, server_time))
      if (!builds.has(name)) builds.set(name, async () => filterThatAdmitsAll())
    await openAll(deps.store, builds.keys())
  }
  let repaired = 0
  for (const name of damaged.names()) {
    const build = builds.get(name)
    // A merge has replaced what it was over.
    if (build === undefined) damaged.clear(name)
    else if (await repair(deps, name, build)) repaired += 1
  }
  return repaired
}

/** Those that older revisions name. What they were over takes their checkpoints to know, and nobody waits for a look-up there: one
 *  that admits every key takes the place of a damaged one. */
async function olderFilters({ store }: RepairDeps, pointer: Pointer, now: number): Promise<readonly string[]> {
  try {
    return [...(await reachKept(store, pointer, now)).files].filter((name) => name.endsWith(FILTER_ENDING))
  } catch (error) {
    // A document of an old revision is damaged: verify says so, and the newest revision is repaired all the same.
    if (!isOperatingError(error, 'corrupt') && !isOperatingError(error, 'missing')) throw error
    return []
  }
}

async function openAll(store: ObjectStore, names: Iterable<string>): Promise<void> {
  // None is kept: a workspace may have more of them than memory is meant to hold.
  const filters = createFilterCache({ store }, 0)
  damagedFiltersOf(store).retry()
  for (const filter of names) await filters({ filter })
}

async function repair({ store, log }: RepairDeps, name: string, build: Build): Promise<boolean> {
  try {
    const bytes = await build()
    const found = await store.head(name)
    const answer = await store.put(name, bytes, { if_generation: found.kind === 'found' ? found.head.generation : CREATE })
    // Otherwise another process was first, or the store asks for patience: the next call looks again.
    if (answer.kind !== 'stored') return false
  } catch (error) {
    if (!isOperatingError(error)) throw error
    const reason = messageOf(error)
    if (damagedFiltersOf(store).noteFailure(name, reason)) {
      log?.(`The filter ${name} could not be rebuilt, and rows are looked up without it: ${reason}`)
    }
    return false
  }
  damagedFiltersOf(store).clear(name)
  log?.(`The filter ${name} was damaged or gone, and has been rebuilt.`)
  return true
}

/** Of every filter that the newest revision names. What a filter of a part or of a cold month is over never changes, and the same
 *  bytes come out again. Of a day, hours may have expired that older revisions still have, and a filter over the others would hide
 *  their rows: until the whole day has expired the filters of its hours speak for themselves. */
async function buildsOf(deps: RepairDeps, checkpoint: Checkpoint): Promise<Map<string, Build>> {
  const builds = new Map<string, Build>()
  for (const table of TABLE_NAMES) {
    for (const part of checkpoint.tables.get(table) ?? []) {
      if (part.filter !== null) builds.set(part.filter, () => buildOfPart(deps, table, part))
      if (part.day_filter !== undefined) builds.set(part.day_filter, async () => filterThatAdmitsAll())
    }
    await addCold(deps, table, checkpoint, builds)
  }
  return builds
}

/** As a merge writes it beside the part. */
async function buildOfPart({ files }: RepairDeps, table: TableName, part: Part): Promise<Uint8Array> {
  const column = tableNamed(table).key[0] as string
  const digests = collectDigests()
  for await (const rows of files.stream(table, [part])) for (const { [column]: value } of rows) digests.add(String(value))
  return digests.toFilter()
}

async function addCold(deps: RepairDeps, table: TableName, checkpoint: Checkpoint, builds: Map<string, Build>): Promise<void> {
  const { cold } = tableNamed(table)
  if (cold === undefined) return
  for (const list of checkpoint.cold.get(table) ?? []) {
    const parts = await openColdList(deps.store, list)
    for (const part of parts) {
      const { filter } = part
      if (filter === null) continue
      // One that lies beside its part is over what leads the key; any other is over what rows are looked for by.
      const isBeside = filter === `${part.name}${FILTER_ENDING}`
      builds.set(filter, () => (isBeside ? buildOfPart(deps, table, part) : buildFilterOver(deps, table, cold.found_by, [part])))
    }
    // Rows that go with their run share the filters of the runs, which are built from the runs alone.
    if (cold.by === 'run') continue
    const groups = partsByFilter(parts)
    // Otherwise a version that put more or fewer keys into a filter wrote them, and what each was over is not known.
    if (groups.length !== list.filters.length) continue
    for (const [i, group] of groups.entries())
      builds.set(list.filters[i] as string, () => buildFilterOver(deps, table, cold.found_by, group))
  }
}
