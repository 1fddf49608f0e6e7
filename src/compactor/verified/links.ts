// The links of the chain, a page of it at a time, also where pages or revisions are gone or damaged: names from the pointer,
// the pages, the links of those that can be read, and at last the listing. It guesses nothing: what cannot be told is a problem.

import { CHAIN_PAGE_REVISIONS } from '../../core/limits.js'
import type { ObjectStore } from '../../storage/object-store.js'
import { chainName, type Pointer, parseChainPage } from '../../tables/revision.js'
import { type Link, readDocument } from '../../tables/snapshot.js'
import { openVolumes, type Volumes } from '../../tables/volume.js'
import { listRevisions } from '../verify-chain.js'
import { findRevision, orDamage, RESTORE_IT } from '../verify-documents.js'

export type Links = {
  /** Oldest first: those of each page, then what no page lists. What cannot be told is left out. */
  readonly pages: () => AsyncGenerator<readonly Link[]>
  /** undefined: it cannot be told. */
  readonly at: (sequence: number) => Promise<string | undefined>
  /** Of its pages. */
  readonly volumes: Volumes
}

/** Names of revisions by sequence. */
type Named = ReadonlyMap<number, string>

/** As many as somebody who walks back looks at together. */
const PAGES_HELD = 4

export async function openLinks(store: ObjectStore, pointer: Pointer, problems: string[]): Promise<Links> {
  const length = await pageLength(store, pointer)
  const volumes = openVolumes(store, length)
  const page_count = Math.ceil(pointer.chain_through / length)
  const newest = [...pointer.deltas, pointer].map(({ sequence, revision }) => [sequence, revision] as const)
  const held = new Map<number, Promise<Named>>()
  /** Of pages that cannot be read, and of what no page lists: put together with much reading, and said once. */
  const walked = new Map<number, Promise<Named>>()

  function load(page: number): Promise<Named> {
    const known = walked.get(page) ?? held.get(page)
    if (known !== undefined) return known
    const reading = page === page_count ? walkTail() : readPage(page)
    if (page === page_count) walked.set(page, reading)
    else held.set(page, reading)
    const [oldest] = held.keys()
    if (held.size > PAGES_HELD && oldest !== undefined) held.delete(oldest)
    return reading
  }

  const walkTail = (): Promise<Named> =>
    walkDown(store, { first: page_count * length + 1, last: pointer.sequence, known: new Map(newest), volumes }, problems)

  async function readPage(page: number): Promise<Named> {
    const name = chainName(page)
    const found = await orDamage(name, () => readDocument(store, name, parseChainPage))
    const first = page * length + 1
    if ('document' in found) {
      const { revisions } = found.document
      const isWhole = revisions.length === length && revisions.every(({ sequence }, index) => sequence === first + index)
      if (isWhole) return new Map(revisions.map(({ sequence, revision }) => [sequence, revision]))
    }
    problems.push('problem' in found ? found.problem : `${name} does not list the revisions that its number stands for. ${RESTORE_IT}`)
    const last = first + length - 1
    const after = last < pointer.sequence ? await at(last + 1) : undefined
    const known = new Map(after === undefined ? newest : [...newest, [last + 1, after]])
    const walking = walkDown(store, { first, last: Math.min(last, pointer.sequence), known, volumes }, problems)
    walked.set(page, walking)
    return walking
  }

  const at = async (sequence: number): Promise<string | undefined> =>
    (await load(Math.min(Math.floor((sequence - 1) / length), page_count))).get(sequence)

  return {
    at,
    volumes,
    async *pages() {
      for (let page = 0; page <= page_count; page++) {
        const named = [...(await load(page))].sort(([left], [right]) => left - right)
        yield named.map(([sequence, revision]) => ({ sequence, revision }))
      }
    },
  }
}

/** How many revisions a page has: all have as many, those of tests fewer than what is usual. */
async function pageLength(store: ObjectStore, { chain_through }: Pointer): Promise<number> {
  for (let page = 0; chain_through % CHAIN_PAGE_REVISIONS !== 0 && page < chain_through; page++) {
    const found = await orDamage(chainName(page), () => readDocument(store, chainName(page), parseChainPage))
    if ('document' in found) return found.document.revisions.length
  }
  return CHAIN_PAGE_REVISIONS
}

type Walk = { readonly first: number; readonly last: number; readonly known: Named; readonly volumes: Volumes }

/** From the last one of these back to the first one. */
async function walkDown(store: ObjectStore, { first, last, known, volumes }: Walk, problems: string[]): Promise<Named> {
  const links = new Map<number, string>()
  const unknown: number[] = []
  for (let sequence = last; sequence >= first; sequence--) {
    const given = known.get(sequence)
    if (given !== undefined) {
      links.set(sequence, given)
      continue
    }
    const after = links.get(sequence + 1) ?? known.get(sequence + 1)
    const next = after === undefined ? undefined : await findRevision(store, { sequence: sequence + 1, revision: after }, volumes)
    const previous = next !== undefined && 'document' in next ? next.document.previous : null
    if (previous !== null) {
      links.set(sequence, previous)
      continue
    }
    // Number by number: a document whose head cannot be read keeps every listing that shows it from being answered.
    const [only, ...others] = (await listRevisions(store, `${sequence}-`, [])).get(sequence) ?? []
    if (only !== undefined && others.length === 0) links.set(sequence, only)
    else unknown.push(sequence)
  }
  for (const range of rangesOf(unknown)) {
    problems.push(
      `${range} cannot be told: nothing that can be read names it, and no document is the only one of its number. ${RESTORE_IT}`,
    )
  }
  return links
}

/** Descending numbers as `Revision 7`, `Revisions 3 to 5`, oldest first. */
function rangesOf(sequences: readonly number[]): string[] {
  const ranges: { first: number; last: number }[] = []
  for (const sequence of [...sequences].reverse()) {
    const open = ranges.at(-1)
    if (open?.last === sequence - 1) open.last = sequence
    else ranges.push({ first: sequence, last: sequence })
  }
  return ranges.map(({ first, last }) => (first === last ? `Revision ${first}` : `Revisions ${first} to ${last}`))
}
