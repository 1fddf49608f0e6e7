// What verify says of a history of several pages with one thing wrong in it, and that it finds the same however few segments
// it holds at a time.

import { tmpdir } from 'node:os'
import { afterEach, describe, expect, test } from '@jest/globals'
import { systemClock, systemRandom } from '../../src/bin/clock.js'
import { packSegments } from '../../src/compactor/packs/pack.js'
import { createFindsByName, type Find, type FindsByName } from '../../src/compactor/verified/by-name.js'
import { verify } from '../../src/compactor/verify.js'
import { corrupt } from '../../src/core/errors.js'
import { crc32cHex } from '../../src/core/hash.js'
import { encodePackLine, packLines, parsePackLine } from '../../src/ledger/pack.js'
import { type PackReference, packIndexName, readPackIndex } from '../../src/ledger/pack-index.js'
import { LEDGER_PREFIX } from '../../src/ledger/segment.js'
import { encodeDocument } from '../../src/storage/document.js'
import { createMemoryStore } from '../../src/storage/memory.js'
import { CREATE, type ObjectStore } from '../../src/storage/object-store.js'
import { chainName, encodeRevision, POINTER_NAME, type Revision, revisionName } from '../../src/tables/revision.js'
import { type OldLedger, PAGE_REVISIONS, PAGES, SEGMENTS_PER_REVISION, writeOldLedger } from '../fixtures/old-ledger.js'
import { singleName } from '../fixtures/packs.js'
import { createPlainFiles } from '../fixtures/plain-files.js'
import { createRandom } from '../fixtures/random.js'
import { TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'

const scope = { tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID }
/** The one behind the pages: its segments lie single, and its document too. */
const LAST = PAGES * PAGE_REVISIONS + 1
const ALL = LAST * SEGMENTS_PER_REVISION

const verified = (store: ObjectStore, held_segments = 2) =>
  verify({ store, files: createPlainFiles({ store }), scope, scratch_folder: tmpdir(), held_segments })

async function open(is_packed = true) {
  const store = createMemoryStore({ clock: systemClock, page_size: 4 })
  const ledger = await writeOldLedger(store, scope)
  if (is_packed) await packSegments({ store, clock: systemClock, random: systemRandom() })
  return { store, ledger }
}

async function write(store: ObjectStore, name: string, bytes: Uint8Array | undefined): Promise<void> {
  const { kind, ...found } = await store.head(name)
  const if_generation = 'head' in found ? (found.head as { generation: string }).generation : CREATE
  if (bytes !== undefined) await store.put(name, bytes, { if_generation })
  else if (kind === 'found') await store.delete(name, { if_generation })
}

async function bytesOf(store: ObjectStore, name: string): Promise<Uint8Array> {
  const answer = await store.get(name)
  if (answer.kind === 'absent') throw new Error(`${name} is gone.`)
  return answer.bytes
}

const segmentsOf = ({ revisions }: OldLedger, sequence: number) => (revisions[sequence - 1] as Revision).segments

/** The newest revision, otherwise than it was. */
async function alterLast(store: ObjectStore, { revisions }: OldLedger, alter: (revision: Revision) => Partial<Revision>): Promise<void> {
  const last = revisions[LAST - 1] as Revision
  await write(store, revisionName(last.sequence, last.revision), encodeRevision({ ...last, ...alter(last) }))
}

/** The pack of a page with other lines, and its index as if it had been written so. */
async function alterPack(
  store: ObjectStore,
  page: number,
  alter: (lines: readonly Uint8Array[]) => readonly Uint8Array[],
): Promise<string> {
  const index = (await readPackIndex(store, page))?.index
  const [pack] = index?.packs as [PackReference]
  const lines = alter([...packLines(await bytesOf(store, pack.name))])
  const bytes = Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]))
  await write(store, pack.name, bytes)
  const packs = [{ ...pack, bytes: bytes.byteLength, crc32c: crc32cHex(bytes), segments: lines.length }]
  await write(store, packIndexName(page), encodeDocument({ ...index, packs } as Parameters<typeof encodeDocument>[0]))
  return pack.name
}

const lineWith = (line: Uint8Array, change: object): Uint8Array => {
  const { bytes, ...head } = parsePackLine(line, 'A line')
  return encodePackLine({ ...head, ...change, bytes }).subarray(0, -1)
}

type Wrong = (store: ObjectStore, ledger: OldLedger) => Promise<string | RegExp>

const WRONG: Readonly<Record<string, Wrong>> = {
  'a segment that another page has folded before': async (store, ledger) => {
    const [again] = segmentsOf(ledger, 2)
    await alterLast(store, ledger, ({ segments }) => ({ segments: [...segments, again as (typeof segments)[number]] }))
    return `Segment ${again?.name} was folded twice, the second time by revision ${LAST}.`
  },
  'a segment that one revision has folded twice': async (store, ledger) => {
    await alterLast(store, ledger, ({ segments }) => ({ segments: [...segments, ...segments.slice(0, 1)] }))
    return `Segment ${segmentsOf(ledger, LAST)[0]?.name} was folded twice, the second time by revision ${LAST}.`
  },
  'a segment in the packs of two pages': async (store, ledger) => {
    const taken: Uint8Array[] = []
    const first = await alterPack(store, 0, (lines) => {
      taken.push(lines[1] as Uint8Array)
      return lines
    })
    const second = await alterPack(store, 1, (lines) => [...taken.map((line) => lineWith(line, { sequence: 4 })), ...lines])
    return `Segment ${segmentsOf(ledger, 1)[1]?.name} is packed twice, in ${first} and in ${second}.`
  },
  'a segment in a pack that nobody has folded': async (store) => {
    const name = '01JHMPFN80G8M4P9V0MMKSSZ7N'
    const pack = await alterPack(store, 1, (lines) => [lineWith(lines[0] as Uint8Array, { name }), ...lines])
    return `${pack} has segment ${name}, which revision 4 did not fold.`
  },
  'a segment that its pack gives to another revision': async (store, ledger) => {
    const pack = await alterPack(store, 1, (lines) => [lineWith(lines[0] as Uint8Array, { sequence: 5 }), ...lines.slice(1)])
    return new RegExp(`^${pack} has segment ${segmentsOf(ledger, 4)[0]?.name} .* of revision 5; revision 4 folded`)
  },
  'a segment that its pack has lost': async (store, ledger) => {
    await alterPack(store, 0, (lines) => lines.slice(0, -1))
    return `Segment ${segmentsOf(ledger, 3).at(-1)?.name}, folded by revision 3, is not in the ledger any more. Restore it from a copy.`
  },
  'a single segment that is gone': async (store, ledger) => {
    const { name } = segmentsOf(ledger, LAST)[2] as { name: string }
    await write(store, singleName(name), undefined)
    return `Segment ${name}, folded by revision ${LAST}, is not in the ledger any more. Restore it from a copy.`
  },
  'a single segment that was written again': async (store, ledger) => {
    const { name } = segmentsOf(ledger, LAST)[2] as { name: string }
    await write(store, singleName(name), await bytesOf(store, singleName(name)))
    return `Segment ${name} was written again since revision ${LAST} folded it.`
  },
  'a single segment with other bytes': async (store, ledger) => {
    const { name } = segmentsOf(ledger, LAST)[0] as { name: string }
    await write(store, singleName(name), Buffer.from('else'))
    return new RegExp(`^Segment ${name} has checksum \\w+; revision ${LAST} folded `)
  },
  'a revision that folded fewer events than its segments have': async (store, ledger) => {
    await alterLast(store, ledger, ({ counts }) => ({ counts: { ...counts, quarantined: 0 } }))
    return /^The folded segments hold \d+ events, but the revisions account for \d+\.$/
  },
  'a revision with a set-sum that is another': async (store, ledger) => {
    await alterLast(store, ledger, ({ set_sum }) => ({ set_sum: set_sum.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) }))
    return `The set-sum of revision ${LAST} is not that of its segments.`
  },
  'a revision that follows another one': async (store, ledger) => {
    await alterLast(store, ledger, ({ revision }) => ({ previous: revision }))
    return new RegExp(`^Revision ${LAST} follows \\w+, but revision ${LAST - 1} is`)
  },
  'a revision in which time goes back': async (store, ledger) => {
    await alterLast(store, ledger, () => ({ fold_time: '2025-01-01T00:00:00.000Z' }))
    return `The fold time went back in revision ${LAST}.`
  },
  'a page that lists the revisions of another': async (store) => {
    await write(store, chainName(0), await bytesOf(store, chainName(1)))
    return `${chainName(0)} does not list the revisions that its number stands for. Restore it from a copy.`
  },
  'a page that is no document': async (store) => {
    await write(store, chainName(1), Buffer.from('{}'))
    return new RegExp(`^${chainName(1)} .* Restore it from a copy\\.$`)
  },
}

describe('verify names', () => {
  test.each(Object.entries(WRONG))('%s', async (_, wrong) => {
    const { store, ledger } = await open()
    expect(await verified(store)).toMatchObject({ problems: [], segments: { folded: ALL, unfolded: 0 } })
    const says = await wrong(store, ledger)
    const found = await verified(store)
    expect(found.problems).toContainEqual(typeof says === 'string' ? says : expect.stringMatching(says))
    // However few of them it holds.
    expect(await verified(store, 1_000)).toEqual(found)
  })

  test.each(Array.from({ length: PAGES }, (_, page) => page))(
    'page %i of the chain, and goes by the links of its revisions',
    async (page) => {
      const { store } = await open()
      const before = await verified(store)
      await write(store, chainName(page), Buffer.from('junk'))
      const { problems, ...rest } = await verified(store)
      expect(problems).toEqual([expect.stringContaining(chainName(page))])
      expect({ ...rest, problems: [] }).toEqual(before)
    },
  )

  test('a pointer that is gone, and goes by the pages and the newest revision', async () => {
    const { store } = await open()
    const { revision_count, events, segments } = await verified(store)
    await write(store, POINTER_NAME, undefined)
    const found = await verified(store)
    expect(found).toMatchObject({ revision_count, events, segments })
    expect(found.problems).toEqual([expect.stringMatching(new RegExp(`Until then this goes by revision ${LAST}\\.$`))])
  })

  test.each([true, false])('a ledger that cannot be listed, and looks for each segment by itself (packed: %s)', async (is_packed) => {
    const { store, ledger } = await open(is_packed)
    const pages = { listed: 0 }
    const broken: ObjectStore = {
      ...store,
      async list(prefix, start_after) {
        if (prefix === LEDGER_PREFIX && pages.listed++ > 0) throw corrupt('A head is damaged.')
        return store.list(prefix, start_after)
      },
    }
    // Of the first page it has some names, which count for nothing.
    const listedTwice = async () => {
      pages.listed = is_packed ? 1 : 0
      return verified(broken)
    }
    const whole = await listedTwice()
    expect(whole.problems).toEqual([expect.stringMatching(/^The ledger cannot be listed, and what is unfolded is not known: .*damaged/)])
    expect(whole.segments).toMatchObject({ folded: ALL, unfolded: 0 })
    const { name } = segmentsOf(ledger, LAST)[0] as { name: string }
    await write(store, singleName(name), undefined)
    expect((await listedTwice()).problems).toContainEqual(expect.stringMatching(`^Segment ${name}, folded by revision ${LAST}, is not in`))
  })
})

describe('what is found of segments', () => {
  let opened: FindsByName[] = []
  afterEach(() => {
    for (const { close } of opened) close()
    opened = []
  })

  test.each([1, 2, 3])('seed %i: is told by names, and of each in its order, whatever is held', (seed) => {
    const random = createRandom(seed)
    for (const held of [1, 7, 1_000]) {
      const finds = createFindsByName(tmpdir(), held)
      opened.push(finds)
      const expected = new Map<string, Find[]>()
      for (let at = 0; at < 500; at++) {
        const name = `01JHMPFN80G8M4P9V0MMKSSZ${String(random.below(90)).padStart(2, '0')}`
        const find: Find = { kind: 'single', crc32c: String(at), creation_time: '"\n\u2028', generation: '1' }
        finds.add(name, find)
        expected.set(name, [...(expected.get(name) ?? []), find])
      }
      const names = [...expected.keys()].sort()
      expect([...finds.groups()]).toEqual(names.map((segment_name) => ({ segment_name, finds: expected.get(segment_name) })))
    }
  })
})
