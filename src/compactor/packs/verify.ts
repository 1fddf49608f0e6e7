// What verify finds of packs: every index, every pack that one names, every line. It reads a pack at a time, and keeps of a
// segment what the chain is compared with.

import type { Scope } from '../../core/ids.js'
import { CHAIN_PREFIX } from '../../core/keys.js'
import { isPackObject, PACKS_PREFIX, type PackedSegment, packLines, parsePackLine } from '../../ledger/pack.js'
import { listIndexedPages, type PackIndex, type PackReference, packIndexName, readPackIndex } from '../../ledger/pack-index.js'
import { readPackFile } from '../../ledger/packed.js'
import { parseSegment } from '../../ledger/segment.js'
import { countEntries } from '../../ledger/stored-segment.js'
import { listAll } from '../../storage/list-all.js'
import type { ObjectStore } from '../../storage/object-store.js'
import { orDamage, RESTORE_IT } from '../verify-documents.js'

export type PackedHead = Pick<PackedSegment, 'creation_time' | 'crc32c' | 'sequence'> & {
  /** Events, where it did not come too late. */
  readonly entry_count: number
  readonly pack: string
}

export type FoundPacks = {
  /** By the segment's name. */
  readonly segments: ReadonlyMap<string, PackedHead>
  readonly strays: readonly string[]
}

export async function findPacks(store: ObjectStore, scope: Scope, problems: string[]): Promise<FoundPacks> {
  const segments = new Map<string, PackedHead>()
  const listed = await orDamage(CHAIN_PREFIX, () => listIndexedPages(store))
  if ('problem' in listed) problems.push(`The pack indices cannot be listed, and what is packed is not known: ${listed.problem}`)
  for (const { page } of 'problem' in listed ? [] : listed.document.pages) {
    const found = await orDamage(packIndexName(page), () => readPackIndex(store, page))
    if ('problem' in found) problems.push(found.problem)
    else if (found.document !== undefined) {
      for (const pack of found.document.index.packs)
        await readPack(store, { page, pack, index: found.document.index, scope }, segments, problems)
    }
  }
  return { segments, strays: await findStrays(store, problems) }
}

type Named = { readonly page: number; readonly pack: PackReference; readonly index: PackIndex; readonly scope: Scope }

async function readPack(store: ObjectStore, named: Named, segments: Map<string, PackedHead>, problems: string[]): Promise<void> {
  const { page, pack, index, scope } = named
  const file = await orDamage(pack.name, () => readPackFile(store, pack))
  if ('problem' in file) {
    problems.push(`${file.problem} It has ${pack.segments} segments of page ${page}.`)
    return
  }
  let line_count = 0
  let sequence = index.first_sequence
  for (const line of packLines(file.document.bytes)) {
    line_count += 1
    const where = `Line ${line_count} of ${pack.name}`
    const parsed = await orDamage(where, async () => parsePackLine(line, where))
    if ('problem' in parsed) {
      problems.push(parsed.problem)
      continue
    }
    const { name, ...segment } = parsed.document
    if (segment.sequence < sequence || segment.sequence > index.last_sequence)
      problems.push(`${where} is out of the order of page ${page}.`)
    if (segments.has(name)) problems.push(`Segment ${name} is packed twice, in ${segments.get(name)?.pack} and in ${pack.name}.`)
    sequence = segment.sequence
    const { creation_time, crc32c, bytes } = segment
    segments.set(name, { creation_time, crc32c, sequence, pack: pack.name, entry_count: countEntries(parseSegment(bytes, scope)) })
  }
  if (line_count !== pack.segments) {
    problems.push(`${pack.name} holds ${line_count} segments; ${packIndexName(page)} says ${pack.segments}. ${RESTORE_IT}`)
  }
}

async function findStrays(store: ObjectStore, problems: string[]): Promise<string[]> {
  const listed = await orDamage(PACKS_PREFIX, () => listAll(store, PACKS_PREFIX))
  if ('document' in listed) return listed.document.objects.map(({ name }) => name).filter((name) => !isPackObject(name))
  problems.push(`The packs cannot be listed: ${listed.problem}`)
  return []
}
