// What verify says of documents that are gone, altered or cut short: each is named with what to do, everything else is
// still looked at, and nobody is told to run what is running.

import { cp, mkdtemp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openDeps } from '../../src/bin/deps.js'
import { DAY_MS } from '../../src/core/time.js'
import { encodeRevision, POINTER_NAME, revisionName } from '../../src/tables/revision.js'
import { readPointer, readRevision } from '../../src/tables/snapshot.js'
import { TENANT_ID, WORKSPACE_ID } from '../fixtures/say.js'
import { runServo } from '../fixtures/servo-process.js'
import { type ServoShell, startServoShell } from '../fixtures/servo-shell.js'
import { STEADY_EVENTS_PER_RUN } from '../fixtures/steady-runs.js'
import { deployLines, STORY_SCOPE, storyLines } from '../fixtures/story-file.js'

const TIMEOUT_MS = 60_000
/** Checkpoints of revisions 1 and 3; 4 merged 2 and 3; 5 and 6 are deltas upon it. */
const REVISIONS = 6

let folder = ''
let shell: ServoShell
let copies = 0
const at = (store: string): readonly string[] => ['--store', `local:${store}`, ...STORY_SCOPE]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servo-damage-'))
  shell = startServoShell()
  const place = at(join(folder, 'store'))
  const turn = async (lines: string, ...args: readonly string[]) => {
    await runServo(['ledger', 'append', '--file', '-', ...place], {}, lines)
    expect(await shell.run(['ledger', 'compact', ...args, ...place])).toMatchObject({ code: 0 })
  }
  await turn(deployLines())
  for (const name of ['two', 'three']) {
    await turn(storyLines({ events: STEADY_EVENTS_PER_RUN, name }), ...(name === 'three' ? ['--merge'] : []))
  }
  for (const name of ['five', 'six']) await turn(storyLines({ events: STEADY_EVENTS_PER_RUN, name }))
}, TIMEOUT_MS)
afterAll(async () => {
  await shell.close()
  await rm(folder, { recursive: true, force: true })
})

async function copyOfStore(): Promise<string> {
  const copy = join(folder, `copy-${copies++}`)
  await cp(join(folder, 'store'), copy, { recursive: true })
  return copy
}

/** The files whose path fits, by name. */
async function filesIn(store: string, fits: RegExp): Promise<readonly string[]> {
  const found = (await readdir(store, { recursive: true })).map((path) => join(store, path)).filter((path) => fits.test(path))
  const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
  return found.sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1))
}

const CHECKPOINTS = /manifests\/orchestration\/checkpoints\/.*\.json\.g1$/
const revisionFile = (sequence: number) => new RegExp(`manifests/orchestration/revisions/.*/${sequence}-[^/]*\\.json\\.g1$`)

async function alter(path: string): Promise<void> {
  const bytes = await readFile(path)
  const at_byte = bytes.lastIndexOf('servo-') + 3
  bytes[at_byte] = (bytes[at_byte] as number) ^ 1
  await writeFile(path, bytes)
}

const DAMAGES = {
  gone: rm,
  altered: alter,
  'cut short': (path: string) => truncate(path, 500),
  emptied: (path: string) => truncate(path, 0),
}

type Verified = {
  readonly sequence: number
  readonly revision_count: number
  readonly problems: readonly string[]
  readonly events: Readonly<Record<'ledger' | 'applied' | 'unfolded', number>>
}

async function verifyOf(store: string): Promise<Verified> {
  const finished = await shell.run(['ledger', 'verify', '--json', ...at(store)])
  expect(finished).toMatchObject({ code: 1, stderr: '' })
  const verified = JSON.parse(finished.stdout) as Verified
  for (const problem of verified.problems) expect(problem).not.toContain('servo ledger verify')
  const people = await shell.run(['ledger', 'verify', ...at(store)])
  expect(people.code).toBe(1)
  expect(people.stdout.split('\n').filter((line) => line.startsWith('wrong: '))).toHaveLength(verified.problems.length)
  return verified
}

const CASES = [
  ['the current checkpoint', CHECKPOINTS, -1, /^manifests.*checkpoints\/\S+\.json .*Restore it from a copy\.$/, REVISIONS],
  ['the oldest checkpoint', CHECKPOINTS, 0, /^manifests.*checkpoints\/\S+\.json .*Restore it from a copy\.$/, REVISIONS],
  [
    'the newest revision',
    revisionFile(6),
    0,
    /^manifests.*revisions\/6-\S+\.json .*Restore it from a copy\. Until then its/,
    REVISIONS - 1,
  ],
  ['a revision before the checkpoint', revisionFile(2), 0, /^manifests.*revisions\/2-\S+\.json .*Restore it from a copy\./, REVISIONS - 1],
  ['the first revision', revisionFile(1), 0, /^manifests.*revisions\/1-\S+\.json .*Restore it from a copy\./, REVISIONS - 1],
] as const

test.each(CASES.flatMap(([what, ...one]) => Object.keys(DAMAGES).map((how) => [what, how as keyof typeof DAMAGES, ...one] as const)))(
  '%s: %s',
  async (_, how, fits, index, sentence, revision_count) => {
    const copy = await copyOfStore()
    const path = (await filesIn(copy, fits)).at(index) as string
    await DAMAGES[how](path)
    // And what else is wrong is found beside it.
    const [segment = ''] = await filesIn(copy, /ledger\/orchestration\/.*\.json\.g1$/)
    await alter(segment)
    const verified = await verifyOf(copy)
    expect(verified.problems).toContainEqual(expect.stringMatching(sentence))
    expect(verified.problems).toContainEqual(expect.stringMatching(/^ledger\/orchestration\/.* does not have the checksum/))
    expect(verified.problems.length).toBeLessThanOrEqual(3)
    expect(verified).toMatchObject({ sequence: REVISIONS, revision_count })
  },
  TIMEOUT_MS,
)

test(
  'two revisions in a row are named both, and the chain goes on below them',
  async () => {
    const copy = await copyOfStore()
    for (const sequence of [3, 4]) await rm((await filesIn(copy, revisionFile(sequence)))[0] as string)
    const { problems, revision_count } = await verifyOf(copy)
    expect(revision_count).toBe(REVISIONS - 2)
    expect(problems).toEqual([
      expect.stringMatching(/^Revision 3 cannot be told: /),
      expect.stringMatching(/^manifests.*revisions\/4-\S+\.json is gone, though the chain names it\./),
    ])
  },
  TIMEOUT_MS,
)

test(
  'a revision that was written again with other numbers',
  async () => {
    const copy = await copyOfStore()
    const deps = await openDeps({ store: `local:${copy}`, tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID })
    try {
      const { published } = await readPointer(deps.store)
      const { sequence, revision } = published?.pointer.deltas.at(-1) as { sequence: number; revision: string }
      const document = await readRevision(deps.store, sequence, revision)
      const counts = { ...document.counts, applied: document.counts.applied + 1 }
      await deps.store.put(revisionName(sequence, revision), encodeRevision({ ...document, counts }), { if_generation: '1' })
    } finally {
      await deps.close()
    }
    const { problems } = await verifyOf(copy)
    expect(problems).toContainEqual(
      expect.stringMatching(/^Revision 6 says that \d+ events were applied so far; its chain adds up to \d+\.$/),
    )
  },
  TIMEOUT_MS,
)

test.each(['junk', '{"schema":"servo-pointer-v9"}', undefined])(
  'the pointer, when it is %s',
  async (text) => {
    const copy = await copyOfStore()
    const [segment = ''] = await filesIn(copy, /ledger\/orchestration\/.*\.json\.g1$/)
    await alter(segment)
    const pointers = await filesIn(copy, /orchestration\.manifest\.json\.g\d+$/)
    for (const path of text === undefined ? pointers : []) await rm(path)
    const deps = await openDeps({ store: `local:${copy}`, tenant_id: TENANT_ID, workspace_id: WORKSPACE_ID })
    try {
      const head = await deps.store.head(POINTER_NAME)
      if (head.kind === 'found') await deps.store.put(POINTER_NAME, Buffer.from(text ?? ''), { if_generation: head.head.generation })
    } finally {
      await deps.close()
    }
    const verified = await verifyOf(copy)
    expect(verified).toMatchObject({ sequence: REVISIONS, revision_count: REVISIONS })
    expect(verified.problems[0]).toMatch(
      /^manifests\/orchestration\.manifest\.json .*Restore it from a copy\. Until then this goes by revision 6\.$/,
    )
    expect(verified.problems[1]).toMatch(/^ledger\/orchestration\/.* does not have the checksum/)
  },
  TIMEOUT_MS,
)

test(
  'a pointer file that is no object of the store',
  async () => {
    const copy = await copyOfStore()
    for (const path of await filesIn(copy, /orchestration\.manifest\.json\.g\d+$/)) await writeFile(path, 'junk')
    const { problems, revision_count } = await verifyOf(copy)
    expect(revision_count).toBe(REVISIONS)
    expect(problems).toEqual([
      expect.stringMatching(/manifest\.json\.g\d+ is not an object .* Restore it from a copy\. Until then this goes by revision 6\.$/),
    ])
    expect((await lookAt(copy))[0]).toMatch(
      /^fail .* answers, and what it has is damaged: The file .*manifest\.json\.g\d+ is not an object/,
    )
  },
  TIMEOUT_MS,
)

/** What the doctor says of the store itself. */
async function lookAt(copy: string): Promise<readonly string[]> {
  const nobody = ['--temporal', '127.0.0.1:9', '--api', 'http://127.0.0.1:9']
  const { stdout } = await shell.run(['doctor', '--json', ...nobody, ...at(copy)])
  const { findings } = JSON.parse(stdout) as { readonly findings: readonly { readonly [_ in 'check' | 'level' | 'found']: string }[] }
  return findings.filter(({ check }) => check === 'store' || check === 'store files').map(({ level, found }) => `${level} ${found}`)
}

const FILTER_DAMAGES = {
  gone: rm,
  altered: flipLastBit,
  'cut short': async (path: string) => truncate(path, (await stat(path)).size - 7),
  // No object of the store any more: only its name says what it was.
  emptied: (path: string) => truncate(path, 0),
}

async function flipLastBit(path: string): Promise<void> {
  const bytes = await readFile(path)
  bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1
  await writeFile(path, bytes)
}

async function withDamagedFilter(damage: (path: string) => Promise<void>) {
  const copy = await copyOfStore()
  const [path = ''] = await filesIn(copy, /base\/idempotency_keys\/.*\.bloom\.g1$/)
  const file = path.slice(path.lastIndexOf('/') + 1, -'.g1'.length)
  await damage(path)
  const { problems } = await verifyOf(copy)
  expect(problems).toEqual([expect.stringMatching(`${file}.* Rebuild it with \`servo ledger compact --filters\`\\.$`)])
  await runServo(['ledger', 'append', '--file', '-', ...at(copy)], {}, storyLines({ events: STEADY_EVENTS_PER_RUN, name: 'seven' }))
  const rebuild = async () => {
    const { code, stderr } = await shell.run(['ledger', 'compact', '--filters', ...at(copy)])
    return { code, says: stderr.split('\n').filter((line) => line.startsWith('The filter') && line.includes(file)) }
  }
  return { copy, path, file, rebuild }
}

test.each(Object.entries(FILTER_DAMAGES))(
  'a filter that is %s: lookups go on without it, and the operator rebuilds it',
  async (_, damage) => {
    const { copy, rebuild } = await withDamagedFilter(damage)
    const { code, says } = await rebuild()
    expect([code, says.at(-1)]).toEqual([0, expect.stringContaining('was damaged or gone, and has been rebuilt.')])
    expect(await shell.run(['ledger', 'verify', ...at(copy)])).toMatchObject({ code: 0 })
  },
  TIMEOUT_MS,
)

test(
  'files that are no objects of the store keep neither collection nor doctor from their work',
  async () => {
    const { copy, path, file, rebuild } = await withDamagedFilter((filter) => truncate(filter, 0))
    // Of a part that the newest revision does not name any more.
    const orphan = join(path, '..', `${path.slice(path.lastIndexOf('/') + 1, -'.bloom.g1'.length)}.orphan.bloom.g1`)
    await writeFile(orphan, 'cut short by a crash')
    expect(await lookAt(copy)).toEqual([
      expect.stringMatching(/^ok .* answers; revision \d+ was published/),
      expect.stringMatching(new RegExp(`^warn state/orchestration/base/.*${file} and 1 more cannot be read`)),
    ])
    const collected = await shell.run(['ledger', 'compact', '--collect', '--json', ...at(copy)])
    expect(collected).toMatchObject({ code: 0 })
    // The other one is too young to go.
    const { collected: counts } = JSON.parse(collected.stdout) as { readonly collected: { readonly too_young_count: number } }
    expect(counts.too_young_count).toBeGreaterThanOrEqual(1)
    const long_ago = new Date(Date.now() - 30 * DAY_MS)
    await utimes(orphan, long_ago, long_ago)
    expect(await shell.run(['ledger', 'compact', '--collect', ...at(copy)])).toMatchObject({ code: 0 })
    expect(await stat(orphan).catch(() => 'gone')).toBe('gone')
    expect(await rebuild()).toMatchObject({ code: 0 })
    expect(await lookAt(copy)).toEqual([expect.stringMatching(/^ok /)])
  },
  TIMEOUT_MS,
)
