// The pages of the chain, each read when it is asked for and few of them held. It finds an instant by guessing and halving:
// the pages of a month may be thousands, and most of them hold nothing that is kept.

import { corrupt } from '../../core/errors.js'
import { instantMs } from '../../core/time.js'
import type { ObjectStore } from '../../storage/object-store.js'
import { chainName, parseChainPage } from '../revision.js'
import { chainPageRevisions, readDocument } from '../snapshot.js'

/** A revision as the chain lists it: enough to choose by, without opening it. */
export type Listed = {
  readonly sequence: number
  readonly revision: string
  readonly published_at: number
  readonly checkpoint: string
}

type Page = { readonly n: number; readonly listed: readonly Listed[] }

export type Pages = {
  readonly at: (sequence: number) => Promise<Listed>
  /** Of the listed revisions below this sequence, the newest that was published before the instant. */
  readonly newestBefore: (sequence: number, instant: number) => Promise<Listed | undefined>
  readonly named: (revision: string) => Promise<Listed | undefined>
}

/** Neighbours of the page at hand, whose deltas may begin in the one before. A page is a few hundred kilobytes in memory. */
const PAGES_HELD = 4

const pageOf = (sequence: number, length: number): number => Math.floor((sequence - 1) / length)
const indexOf = (sequence: number, length: number): number => (sequence - 1) % length

export function openPages(store: ObjectStore, chain_through: number): Pages {
  const held = new Map<number, Page>()
  let known: Promise<number> | undefined
  const pageLength = (): Promise<number> => (known ??= chainPageRevisions(store, { chain_through }))

  async function load(n: number): Promise<Page> {
    const page = held.get(n) ?? (await readPage(store, n, await pageLength()))
    held.delete(n)
    held.set(n, page)
    for (const oldest of held.keys()) {
      if (held.size <= PAGES_HELD) break
      held.delete(oldest)
    }
    return page
  }

  /** The newest page before this one that begins before the instant. It goes by how long a page nearby took, and halves what
   *  is left with every third guess, so that bursts and pauses do not lead it astray for long. */
  async function pageBefore(from: Page, instant: number): Promise<Page | undefined> {
    let above = from
    let below: Page | undefined
    for (let guesses = 1; ; guesses++) {
      const lowest = (below?.n ?? -1) + 1
      const highest = above.n - 1
      if (lowest > highest) return below
      const guess = guesses % 3 === 0 ? Math.floor((lowest + highest) / 2) : guessPage(above, below, instant)
      const page = await load(Math.min(Math.max(guess, lowest), highest))
      if (beginOf(page) >= instant) above = page
      else if (endOf(page) >= instant) return page
      else below = page
    }
  }

  return {
    async at(sequence) {
      const length = await pageLength()
      return (await load(pageOf(sequence, length))).listed[indexOf(sequence, length)] as Listed
    },
    async newestBefore(sequence, instant) {
      if (sequence <= 1) return undefined
      const length = await pageLength()
      const page = await load(pageOf(sequence - 1, length))
      return newestIn(page, indexOf(sequence - 1, length), instant) ?? newestIn(await pageBefore(page, instant), length - 1, instant)
    },
    async named(revision) {
      for (let n = chain_through / (await pageLength()) - 1; n >= 0; n--) {
        const found = (await load(n)).listed.find((listed) => listed.revision === revision)
        if (found !== undefined) return found
      }
      return undefined
    },
  }
}

async function readPage(store: ObjectStore, n: number, length: number): Promise<Page> {
  const { revisions } = await readDocument(store, chainName(n), parseChainPage)
  if (revisions.length !== length || revisions[0]?.sequence !== n * length + 1) {
    throw corrupt(`${chainName(n)} does not list the revisions that its number stands for. Run \`servo ledger verify\`.`)
  }
  return { n, listed: revisions.map(({ published_at, ...entry }) => ({ ...entry, published_at: instantMs(published_at) })) }
}

function newestIn(page: Page | undefined, from_index: number, instant: number): Listed | undefined {
  for (let index = from_index; index >= 0; index--) {
    const listed = page?.listed[index]
    if (listed !== undefined && listed.published_at < instant) return listed
  }
  return undefined
}

const beginOf = ({ listed }: Page): number => (listed[0] as Listed).published_at
const endOf = ({ listed }: Page): number => (listed.at(-1) as Listed).published_at
const durationOf = (page: Page): number => Math.max(1, endOf(page) - beginOf(page))

function guessPage(above: Page, below: Page | undefined, instant: number): number {
  if (below === undefined) return above.n - 1 - Math.floor((beginOf(above) - instant) / durationOf(above))
  return below.n + 1 + Math.floor((instant - endOf(below)) / durationOf(below))
}
