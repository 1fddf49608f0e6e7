// The other thread of a replay, as `servo ledger replay` starts it where there are many rows.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openDeps } from '../../src/bin/deps.js'
import type { Compared } from '../../src/compactor/compare.js'
import { replay } from '../../src/turn/replay.js'
import { TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'
import { runServo } from '../fixtures/servo-process.js'
import { STEADY_EVENTS_PER_RUN } from '../fixtures/steady-runs.js'
import { deployLines, STORY_SCOPE, storyLines } from '../fixtures/story-file.js'

/** Threads run what was built. */
const BUILT = fileURLToPath(new URL('../../dist/bin/compare-beside.js', import.meta.url))
const TIMEOUT_MS = 120_000

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servo-replay-thread-test-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test(
  'opens the workspace for itself, and compares every row of its tables',
  async () => {
    const store = `local:${folder}`
    const place = ['--store', store, ...STORY_SCOPE]
    for (const lines of [deployLines(), storyLines({ events: 10 * STEADY_EVENTS_PER_RUN, name: 'thread' })]) {
      expect(await runServo(['ledger', 'append', ...place, '--file', '-'], {}, lines)).toMatchObject({ code: 0 })
      expect(await runServo(['ledger', 'compact', ...place])).toMatchObject({ code: 0 })
    }
    const deps = await openDeps({ store, tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID, access: 'read' })
    try {
      const { compareBeside } = (await import(BUILT)) as typeof import('../../src/bin/compare-beside.js')
      const { compare } = compareBeside(deps.config)
      const answers: Compared[] = []
      const asking = async (job: Parameters<typeof compare>[0]) => {
        const answer = await compare(job)
        answers.push(answer)
        return answer
      }
      const asked = { live: deps, scope: deps.scope, scratch_folder: tmpdir(), held: { rows: 10, bytes: 1_000 } }
      const alone = await replay(asked)
      expect(alone).toMatchObject({ differences: [] })
      expect(await replay({ ...asked, beside: { bytes_min: 0, compare: asking } })).toEqual(alone)
      expect(answers).toMatchObject([{ differences: [] }])
      expect(answers[0]?.row_count).toBeGreaterThan(alone.row_count / 10)
    } finally {
      await deps.close()
    }
  },
  TIMEOUT_MS,
)
