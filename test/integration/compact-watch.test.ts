// `servo ledger compact --watch`: what it does beside its turns, and that a store which does not answer is waited for.
// The loop runs on a real store; its clock is quicker, so that ten minutes are a second.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Deps, openAppender, openDeps, openReader, turnDeps } from '../../src/bin/deps.js'
import type { CompactReport } from '../../src/cli/local/compact-report.js'
import { type WatchDeps, watchWorkspace } from '../../src/cli/local/compact-watch.js'
import { createTroubles } from '../../src/cli/local/troubles.js'
import { mergeBase } from '../../src/compactor/merge.js'
import { findMissedSegments } from '../../src/compactor/window.js'
import { unavailable } from '../../src/core/errors.js'
import { HOUR_MS, MINUTE_MS } from '../../src/core/time.js'
import { newUlid, ulidAt } from '../../src/core/ulid.js'
import { segmentObjectName } from '../../src/ledger/segment.js'
import { createTurn } from '../../src/turn/turn.js'
import { createSpeaker, TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'
import { startServo } from '../fixtures/servo-process.js'
import { STORY_SCOPE } from '../fixtures/story-file.js'

const TIMEOUT_MS = 60_000
const FASTER = 600

let folder = ''
const closing: (() => Promise<void>)[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servo-watch-'))
})
afterAll(async () => {
  for (const close of closing) await close()
  await rm(folder, { recursive: true, force: true })
})

async function openWorkspace(name: string): Promise<Deps> {
  const deps = await openDeps({ store: `local:${join(folder, name)}`, tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID })
  closing.push(deps.close)
  return deps
}

const clock = {
  now: () => Date.now(),
  elapsed: () => performance.now() * FASTER,
  // The clock itself: minutes of a watch pass in moments.
  sleep: (duration_ms: number) => new Promise<void>((resolve) => setTimeout(resolve, duration_ms / FASTER)),
}

type Watched = { readonly reports: CompactReport[]; readonly notes: string[]; readonly stop: () => Promise<void> }

async function watch(deps: Deps, request: { merge?: boolean; collect?: boolean }, change: Partial<WatchDeps> = {}): Promise<Watched> {
  const reports: CompactReport[] = []
  const notes: string[] = []
  let isStopped = false
  const turn = createTurn(turnDeps(deps, await openAppender(deps)))
  const ended = watchWorkspace(
    {
      clock,
      isStopped: () => isStopped,
      turn: (missed) => turn.run({ missed }),
      findMissed: () => findMissedSegments(deps.store, deps.listing_window_ms),
      merge: () => mergeBase(deps),
      collect: async () => ({ kept_count: 0, deleted_count: 1, too_young_count: 0, claims_deleted_count: 0, packs_deleted_count: 0 }),
      report: (report) => void reports.push(report),
      troubles: createTroubles(clock, (text) => void notes.push(text)),
      ...change,
    },
    request,
  )
  const stop = async () => {
    isStopped = true
    await ended
  }
  return { reports, notes, stop }
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 20_000; Date.now() < end; ) {
    if (await holds()) return
    // Between two looks at the condition.
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`It never came to this: ${what}.`)
}

/** A segment as a writer leaves it who was paused for half an hour between naming it and writing it. */
async function plantLate({ store, clock: own, random }: Deps, pool: string): Promise<string> {
  const say = createSpeaker()
  const written_at = new Date().toISOString()
  const name = ulidAt(own.now() - HOUR_MS / 2, random(10))
  const batches = [{ batch_id: newUlid(own.now(), random), events: [say.poolDefined(pool, 1)] }]
  const segment = { schema: 'servo-segment-v1', tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID, batches }
  const text = JSON.stringify({ ...segment, write_id: newUlid(own.now(), random), written_at })
  await store.put(segmentObjectName(name), Buffer.from(text), { if_generation: '0' })
  return name
}

const poolsOf = async (deps: Deps): Promise<readonly unknown[]> => {
  const page = await (await openReader(deps).latest())?.page('pools', { limit: 100 })
  return (page?.rows ?? []).map((row) => row['pool_key'])
}

test(
  'finds late segments that were there, and those that come while it watches',
  async () => {
    const deps = await openWorkspace('late')
    await createTurn(turnDeps(deps, await openAppender(deps))).run()
    await plantLate(deps, 'pool:before')
    const watching = await watch(deps, {})
    await until('the first late segment is folded', async () => (await poolsOf(deps)).includes('pool:before'))
    await plantLate(deps, 'pool:meanwhile')
    await until('the second late segment is folded', async () => (await poolsOf(deps)).includes('pool:meanwhile'))
    await watching.stop()
    expect(watching.reports.map(({ applied }) => applied)).toEqual([1, 1])
    expect(watching.notes).toEqual([])
  },
  TIMEOUT_MS,
)

test(
  'collects at the start and then again, and only where it is asked to',
  async () => {
    const deps = await openWorkspace('collect')
    const watching = await watch(deps, { collect: true })
    await until('it has collected twice', () => watching.reports.filter(({ collected }) => collected !== undefined).length >= 2)
    await watching.stop()
    expect(watching.reports.find(({ collected }) => collected !== undefined)).toMatchObject({ published_count: 0, applied: 0, sequence: 1 })
    const other = await watch(deps, {}, { collect: () => Promise.reject(new Error('Nobody asked.')) })
    await clock.sleep(15 * MINUTE_MS)
    await other.stop()
    expect(other.reports).toEqual([])
  },
  TIMEOUT_MS,
)

test(
  'folds on while a collection takes long, and ends with it',
  async () => {
    const deps = await openWorkspace('beside')
    let letGo: () => void = () => undefined
    const held = new Promise<void>((resolve) => (letGo = resolve))
    let collections = 0
    let turns = 0
    const turn = createTurn(turnDeps(deps, await openAppender(deps)))
    const watching = await watch(
      deps,
      { collect: true },
      {
        turn: (missed) => (turns++, turn.run({ missed })),
        collect: async () => {
          collections += 1
          await held
          return { kept_count: 0, deleted_count: 1, too_young_count: 0, claims_deleted_count: 0, packs_deleted_count: 0 }
        },
      },
    )
    await until('the collection has begun', () => collections === 1)
    const then = turns
    await until('turns go on', () => turns > then + 3)
    const stopped = watching.stop()
    letGo()
    await stopped
    expect(collections).toBe(1)
    expect(watching.reports.filter(({ collected }) => collected !== undefined)).toHaveLength(1)
  },
  TIMEOUT_MS,
)

test(
  'says once that the store does not answer, goes on, and says that too',
  async () => {
    const deps = await openWorkspace('unanswered')
    const turn = createTurn(turnDeps(deps, await openAppender(deps)))
    const failing = { turn: 0, look: 0, merge: 0 }
    const unanswered = () => Promise.reject(unavailable('No answer.'))
    let turns = 0
    const watching = await watch(
      deps,
      { merge: true },
      {
        turn: (missed) => (turns++ > 0 && failing.turn-- > 0 ? unanswered() : turn.run({ missed })),
        findMissed: () => (failing.look-- > 0 ? unanswered() : Promise.resolve([])),
        merge: () => (failing.merge-- > 0 ? unanswered() : mergeBase(deps)),
      },
    )
    await until('the first turn is done', () => turns > 0)
    Object.assign(failing, { turn: 5, look: 2, merge: 2 })
    await until('it goes on', () => watching.notes.filter((text) => text.endsWith('goes on.')).length === 3)
    await watching.stop()
    const said = (what: string) => watching.notes.filter((text) => text.startsWith(`servo: ${what}`))
    for (const what of ['Folding', 'Merging', 'The look for late segments']) {
      expect(said(what)).toEqual([`servo: ${what} has to wait and is tried again and again: No answer.`, `servo: ${what} goes on.`])
    }
  },
  TIMEOUT_MS,
)

test(
  'ends where the very first turn has no answer',
  async () => {
    const deps = await openWorkspace('never')
    const watching = await watch(deps, {}, { turn: () => Promise.reject(unavailable('No answer.')) })
    await expect(watching.stop()).rejects.toMatchObject({ kind: 'unavailable' })
  },
  TIMEOUT_MS,
)

test(
  'as a process with --merge merges what six turns have left, and says it in the shape of a turn',
  async () => {
    const deps = await openWorkspace('six')
    const appender = await openAppender(deps)
    const turn = createTurn(turnDeps(deps, appender))
    for (let i = 0; i < 6; i++) {
      await appender.append([createSpeaker().poolDefined(`pool:${i}`, 1)])
      await turn.run()
    }
    const place = ['--store', `local:${join(folder, 'six')}`, ...STORY_SCOPE]
    const watching = startServo(['ledger', 'compact', ...place, '--watch', '--merge', '--json'])
    const [merged] = (await watching.printed(1)).map((line) => JSON.parse(line) as CompactReport)
    expect(merged).toMatchObject({ sequence: 7, published_count: 0, applied: 0, merged: { kind: 'merged', sequence: 7 } })
    await appender.append([createSpeaker().poolDefined('pool:more', 1)])
    const [, folded] = (await watching.printed(2)).map((line) => JSON.parse(line) as CompactReport)
    watching.stop('SIGTERM')
    expect(await watching.finished).toMatchObject({ code: 0 })
    const once = startServo(['ledger', 'compact', ...place, '--json'])
    const shape = JSON.parse((await once.finished).stdout) as CompactReport
    expect(Object.keys(folded ?? {})).toEqual(Object.keys(shape))
    expect(folded).toMatchObject({ sequence: 8, applied: 1, processed_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) })
  },
  TIMEOUT_MS,
)
