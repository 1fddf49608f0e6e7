// What verify finds of packs: every index, every pack that one names, every line. It reads a pack at a time, and keeps of a
// segment what the chain is compared with.

import type { Scope } from '../../core/ids.js'
import { CHAIN_PREFIX } from '../../core/keys.js'
import { isPackObject, PACKS_PREFIX, packLines, parsePackLine } from '../../ledger/pack.js'
import { listIndexedPages, type PackIndex, type PackReference, packIndexName, readPackIndex } from '../../ledger/pack-index.js'
import { readPackFile } from '../../ledger/packed.js'
import { parseSegment } from '../../ledger/segment.js'
import { countEntries } from '../../ledger/stored-segment.js'
import { listAll } from '../../storage/list-all.js'
import type { ObjectStore } from '../../storage/object-store.js'
import type { FindsByName } from '../verified/by-name.js'
import { orDamage, RESTORE_IT } from '../verify-documents.js'

/** Answers the names of what lies among the packs and is none. */
export async function findPacks(store: ObjectStore, scope: Scope, found: FindsByName, problems: string[]): Promise<readonly string[]> {
  const listed = await orDamage(CHAIN_PREFIX, () => listIndexedPages(store))
  if ('problem' in listed) problems.push(`The pack indices cannot be listed, and what is packed is not known: ${listed.problem}`)
  for (const { page } of 'problem' in listed ? [] : listed.document.pages) {
    const stored = await orDamage(packIndexName(page), () => readPackIndex(store, page))
    if ('problem' in stored) problems.push(stored.problem)
    else if (stored.document !== undefined) {
      const { index } = stored.document
      for (const pack of index.packs) await readPack(store, { page, pack, index, scope }, found, problems)
    }
  }
  return findStrays(store, problems)
}

type Named = { readonly page: number; readonly pack: PackReference; readonly index: PackIndex; readonly scope: Scope }

async function readPack(store: ObjectStore, named: Named, found: FindsByName, problems: string[]): Promise<void> {
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
    sequence = segment.sequence
    const { creation_time, crc32c, bytes } = segment
    const entry_count = countEntries(parseSegment(bytes, scope))
    found.add(name, { kind: 'packed', creation_time, crc32c, sequence, pack: pack.name, entry_count })
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
