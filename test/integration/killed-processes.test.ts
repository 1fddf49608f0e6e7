// Four writers and a compactor on one folder, each killed again and again at a random line of its output and started on
// the same input: nothing acknowledged is lost, nothing is folded twice, and a replay finds the same rows.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createRandom } from '../fixtures/random.js'
import { runServo, startServo } from '../fixtures/servo-process.js'
import { deployLines, STORY_SCOPE, storyLines } from '../fixtures/story-file.js'

const WRITERS = 4
const EVENTS_PER_WRITER = 25_000
/** The location, its six assets and the pool. */
const DEPLOY_EVENTS = 8
const KILLS_PER_WRITER = 3
const KILLS_OF_COMPACTOR = 4

/** On a machine that is busy with something else: alone it takes a minute. */
const TIMEOUT_MS = 600_000

const seed = Number(process.env['SERVO_SEED'] ?? Date.now() % 1_000_000)
const replayCommand = `SERVO_SEED=${seed} NODE_OPTIONS=--experimental-vm-modules npx jest test/integration/killed-processes`

let folder = ''
beforeAll(async () => {
  // At once, and past jest, which keeps what a test logs until it ends: a test that hangs has to be run again, too.
  process.stderr.write(`note: kills drawn by SERVO_SEED=${seed}; the same ones again: ${replayCommand}\n`)
  folder = await mkdtemp(join(tmpdir(), 'servo-killed-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test(
  '100,000 events by four killed writers beside a killed compactor verify and replay equal',
  async () => {
    // Each has randomness of its own: which of them draws first is the machine's affair.
    const random = createRandom(seed)
    const store = ['--store', `local:${join(folder, 'store')}`, ...STORY_SCOPE]
    await writeFile(join(folder, 'deploy.ndjson'), deployLines())
    expect(await runServo(['ledger', 'append', '--file', join(folder, 'deploy.ndjson'), ...store])).toMatchObject({ code: 0 })
    const files = await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        const file = join(folder, `writer-${writer}.ndjson`)
        await writeFile(file, storyLines({ events: EVENTS_PER_WRITER, name: `w${writer}` }))
        return file
      }),
    )

    let areWritersDone = false
    const ofCompactor = random.fork('compactor')
    const compactor = (async () => {
      for (let kill = 0; !areWritersDone; kill++) {
        const child = startServo(['ledger', 'compact', '--watch', '--merge', ...store])
        if (kill < KILLS_OF_COMPACTOR) child.killAfterLines(1 + ofCompactor.below(4))
        else stopWhen(child.stop, () => areWritersDone)
        await child.finished
      }
    })()
    await Promise.all(files.map((file, writer) => writeWithKills(file, store, random.fork(`writer ${writer}`))))
    areWritersDone = true
    await compactor

    const compacted = await runServo(['ledger', 'compact', '--merge', '--json', ...store])
    expect(compacted).toMatchObject({ code: 0 })
    const verified = await runServo(['ledger', 'verify', '--json', ...store])
    const events = JSON.parse(verified.stdout) as {
      readonly events: Readonly<Record<string, number>>
      readonly problems: readonly string[]
    }
    expect({ problems: events.problems, code: verified.code }).toEqual({ problems: [], code: 0 })
    expect(events.events).toMatchObject({
      applied: DEPLOY_EVENTS + WRITERS * EVENTS_PER_WRITER,
      refused: 0,
      quarantined: 0,
      unfolded: 0,
    })
    const replayed = await runServo(['ledger', 'replay', '--json', ...store])
    expect(JSON.parse(replayed.stdout)).toMatchObject({ equal: true, differences: [] })
    expect(replayed.code).toBe(0)
  },
  TIMEOUT_MS,
)

async function writeWithKills(file: string, store: readonly string[], random: ReturnType<typeof createRandom>): Promise<void> {
  for (let kill = 0; kill < KILLS_PER_WRITER; kill++) {
    const child = startServo(['ledger', 'append', '--file', file, ...store])
    child.killAfterLines(1 + random.below(EVENTS_PER_WRITER))
    await child.finished
  }
  const last = await runServo(['ledger', 'append', '--file', file, '--json', ...store])
  expect(last).toMatchObject({ code: 0 })
  const { answers } = JSON.parse(last.stdout) as { readonly answers: readonly { readonly answer: string }[] }
  expect(answers).toHaveLength(EVENTS_PER_WRITER)
}

/** A watching compactor never ends by itself: it is asked to, once the writers are through. */
function stopWhen(stop: (signal: NodeJS.Signals) => void, isDue: () => boolean): void {
  // The writers are other processes, and say nothing when they are through.
  const timer = setInterval(() => {
    if (!isDue()) return
    clearInterval(timer)
    stop('SIGTERM')
  }, 50)
}
