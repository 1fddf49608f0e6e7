import { afterAll, expect, test } from '@jest/globals'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLocalStore } from '../../src/storage/local.js'
import type { VirtualTime } from '../fixtures/virtual-time.js'
import { runCrashStory } from './crash-story.js'
import { distinctPointsOf, enumerate, expectAllHold } from './enumerate.js'

const folder = mkdtempSync(join(tmpdir(), 'servo-crash-local-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let runs = 0

/** No process dies here, so nothing has to be on the disk. */
const openStore = (time: VirtualTime) => createLocalStore({ folder: join(folder, String(runs++)), clock: time.clock(), sync: false })

/** On a machine that is busy with something else. */
const TIMEOUT_MS = 300_000

test(
  'every distinct single crash point, on the folder store with plain files',
  async () => {
    const { calls, problems } = await runCrashStory([], { openStore })
    expect(problems).toEqual([])
    const points = distinctPointsOf(calls)
    expect(points.length).toBeGreaterThan(200)
    const run = (some: Parameters<typeof runCrashStory>[0]) => runCrashStory(some, { openStore })
    expectAllHold(
      await enumerate(
        'distinct single crash points on the folder store with plain files',
        points.map((point) => [point]),
        run,
      ),
    )
  },
  TIMEOUT_MS,
)
