// Workspaces that older versions have left, opened by this one: all of it is good, the first turn takes it over, nothing is lost
// or quarantined, and it can be rebuilt, backed up and restored. test/recorded-workspaces/README.md says how each was made.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Deps, openAppender, openDeps, openReader, openScratch, turnDeps } from '../../src/bin/deps.js'
import { backUp } from '../../src/compactor/backup/backup.js'
import { restore } from '../../src/compactor/backup/restore.js'
import { mergeBase } from '../../src/compactor/merge.js'
import { verify } from '../../src/compactor/verify.js'
import { FOLD_VERSION } from '../../src/core/limits.js'
import { readPointer } from '../../src/tables/snapshot.js'
import { rebuild } from '../../src/turn/rebuild.js'
import { replaySince } from '../../src/turn/replay-since.js'
import { createTurn } from '../../src/turn/turn.js'
import { TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'

const RECORDED = fileURLToPath(new URL('../recorded-workspaces/', import.meta.url))
const VERSIONS = readdirSync(RECORDED)
  .flatMap((name) => /^fold-(\d+)\.json\.gz$/.exec(name)?.[1] ?? [])
  .map(Number)
/** What record.ts says: three runs, one word twice, and a segment that is none. */
const EVENTS = { ledger: 70, applied: 57, duplicate: 1, refused: 0, quarantined: 1 }
const UNFOLDED = 11

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'servo-recorded-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function unpack(version: number, into: string): string {
  const files = JSON.parse(gunzipSync(readFileSync(`${RECORDED}fold-${version}.json.gz`)).toString()) as Record<string, string>
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, into, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, Buffer.from(content, 'base64'))
  }
  return into
}

async function at<T>(name: string, work: (deps: Deps) => Promise<T>): Promise<T> {
  const deps = await openDeps({ store: `local:${join(folder, name)}`, tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID })
  try {
    return await work(deps)
  } finally {
    await deps.close()
  }
}

async function rebuilt(deps: Deps, is_dry: boolean) {
  const scratch = await openScratch(deps)
  try {
    return await rebuild({ ...deps, live: deps, scratch }, { is_dry })
  } finally {
    await scratch.close()
  }
}

const takeTurn = async (deps: Deps) => createTurn(turnDeps(deps, await openAppender(deps))).run()
const states = async (deps: Deps) => {
  const rows = (await (await openReader(deps).latest())?.page('runs', { limit: 100 }))?.rows ?? []
  return rows.map(({ state }) => state).sort()
}

test('there is one of a version before schedules', () => expect(VERSIONS).toContain(2))

describe.each(VERSIONS)('a workspace that fold version %d has left', (version) => {
  test('is read, verified and taken over: nothing of it is lost or quarantined', async () => {
    await at(unpack(version, `taken-${version}`), async (deps) => {
      const before = await verify(deps)
      expect(before).toMatchObject({ problems: [], events: { ...EVENTS, unfolded: UNFOLDED } })
      expect(await states(deps)).toEqual(['RUNNING', 'SUCCEEDED', 'SUCCEEDED'])
      const { sequence } = await takeTurn(deps)
      const { published } = await readPointer(deps.store)
      expect(published?.pointer.fold_version).toBe(FOLD_VERSION)
      if (version < FOLD_VERSION) expect(published?.pointer.checkpoint.sequence).toBe(sequence)
      expect(await states(deps)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED'])
      expect(await verify(deps)).toMatchObject({ problems: [], events: { ...EVENTS, applied: EVENTS.applied + UNFOLDED, unfolded: 0 } })
      expect(await mergeBase(deps, { whole: true })).toMatchObject({ kind: 'merged' })
      expect((await verify(deps)).problems).toEqual([])
      const scratch = await openScratch(deps)
      const since = await replaySince({ ...deps, live: deps, scratch })
      await scratch.close()
      expect(since).toMatchObject({ differences: [] })
      if (version < FOLD_VERSION) expect(since.from).toBe(sequence)
    })
  })

  test('is rebuilt, and a replay finds nothing that differs', async () => {
    await at(unpack(version, `rebuilt-${version}`), async (deps) => {
      await takeTurn(deps)
      const { published_sequence } = await rebuilt(deps, false)
      expect((await readPointer(deps.store)).published?.pointer.sequence).toBe(published_sequence)
      expect((await rebuilt(deps, true)).differences).toEqual([])
      expect(await states(deps)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED'])
      expect((await verify(deps)).problems).toEqual([])
    })
  })

  test('is backed up as it is, and goes on where it is restored', async () => {
    await at(unpack(version, `live-${version}`), (live) =>
      at(`backups-${version}`, async (shelf) => {
        await backUp({ ...live, source: live.store, target: shelf.store })
        await at(`restored-${version}`, async (deps) => {
          const { verified } = await restore({ ...deps, source: shelf.store, target: deps.store })
          expect(verified).toMatchObject({ problems: [], events: { ...EVENTS, unfolded: UNFOLDED } })
          await takeTurn(deps)
          expect(await verify(deps)).toMatchObject({ problems: [], events: { quarantined: EVENTS.quarantined, unfolded: 0 } })
        })
      }),
    )
  })
})
