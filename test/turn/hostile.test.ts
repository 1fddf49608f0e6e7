// What others may leave in the store: it must cost no workspace its turns, and no revision its place.

import { describe, expect, test } from '@jest/globals'
import { verify } from '../../src/compactor/verify.js'
import { sha256Hex } from '../../src/core/hash.js'
import { listName } from '../../src/core/keys.js'
import { CREATE } from '../../src/storage/object-store.js'
import { POINTER_NAME } from '../../src/tables/revision.js'
import { createScenario } from '../fixtures/scenario.js'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('an object under the ledger that is no segment', () => {
  test.each(['readme.txt', 'zzz.json', '01JHMPFN80G8M4P9V0MMKSSZ7N.txt', 'folder/01JHMPFN80G8M4P9V0MMKSSZ7N.json'])(
    '%s is never folded, and what is idle stays idle',
    async (name) => {
      const { say, writer, decider, tell, world, row, expectInvariants } = createScenario()
      const { turn } = decider()
      await tell(async () => {
        await world.bucket.put(`ledger/orchestration/${name}`, bytesOf('hello'), { if_generation: CREATE })
        await writer().append([say.poolDefined('pool:x', 1)])
        expect((await turn()).counts).toMatchObject({ applied: 1, quarantined: 0 })
        for (let again = 0; again < 3; again++) expect((await turn()).published_count).toBe(0)
      })
      expect(await row('pools', 'pool:x')).toBeDefined()
      const { strays, problems } = await verify({ store: world.bucket, files: world.files, scope: world.scope })
      expect({ strays, problems }).toEqual({ strays: [`ledger/orchestration/${name}`], problems: [] })
      await expectInvariants()
    },
  )
})

describe('a list that is none', () => {
  test.each([
    ['no JSON', 'not json'],
    ['no list', '{"a":1}'],
    ['no texts', '[1,2]'],
    ['a value twice', '["a","a"]'],
    ['not canonical', '[ "a" ]'],
    ['half a character', '["\\ud800"]'],
  ])('%s quarantines the event that names it, and nothing else', async (_, text) => {
    const { say, writer, decider, tell, world, rows, row, defineAssets, expectInvariants } = createScenario()
    const sha256 = sha256Hex(text)
    await tell(async () => {
      await defineAssets()
      await world.bucket.put(listName(sha256), bytesOf(text), { if_generation: CREATE })
      const { append } = writer()
      await append([say.runRequested('user:1', { assets: { list: { sha256, count: 1 } } })])
      await append([say.poolDefined('pool:x', 1)])
      await decider().turn()
    })
    expect((await rows('quarantine')).map(({ reason }) => reason)).toEqual(['LIST_MISSING'])
    expect(await row('pools', 'pool:x')).toBeDefined()
    await expectInvariants()
  })
})

describe('a pointer that is gone', () => {
  test.each([
    { who: 'the turn that wrote it', revisions: 1, says: /was in .*, and is not there any more/ },
    { who: 'the turn that wrote it', revisions: 2, says: /was in .*, and is not there any more/ },
    { who: 'another process', revisions: 2, says: /is gone .* Restore it from a copy/ },
  ])('is no new workspace, for $who after $revisions', async ({ who, revisions, says }) => {
    const { say, writer, decider, tell, world } = createScenario()
    const { append } = writer()
    const first = decider('first')
    await tell(async () => {
      for (const pool of ['pool:x', 'pool:y'].slice(0, revisions)) {
        await append([say.poolDefined(pool, 1)])
        await first.turn()
      }
      const head = await world.bucket.head(POINTER_NAME)
      if (head.kind === 'absent') throw new Error('There is a pointer.')
      await world.bucket.delete(POINTER_NAME, { if_generation: head.head.generation })
      const { turn } = who === 'another process' ? decider('second') : first
      for (let tries = 0; tries < 2; tries++) await expect(turn()).rejects.toThrow(says)
      expect((await world.bucket.head(POINTER_NAME)).kind).toBe('absent')
    })
  })
})
