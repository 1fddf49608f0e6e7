// Commands that only read leave the place as it is: no folder for one that is not there, no file in one that is.

import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type ServoShell, startServoShell } from '../fixtures/servo-shell.js'
import { deployLines, STORY_SCOPE } from '../fixtures/story-file.js'

const TIMEOUT_MS = 60_000
const READING = [
  ['ledger', 'stats'],
  ['ledger', 'verify'],
  ['ledger', 'tail'],
  ['ledger', 'replay'],
  ['table', 'pools'],
  ['sql', 'select * from pools'],
  ['sql', '--files'],
] as const

let folder = ''
let shell: ServoShell
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'servo-read-only-'))
  shell = startServoShell()
})
afterAll(async () => {
  await shell.close()
  await rm(folder, { recursive: true, force: true })
})

/** Every path with the time of its last change: what a read-only mount would refuse shows here. */
async function pathsIn(root: string): Promise<readonly string[]> {
  const paths = (await readdir(root, { recursive: true })).map((path) => join(root, path))
  const stats = await Promise.all([root, ...paths].map(async (path) => `${path} ${(await stat(path, { bigint: true })).mtimeNs}`))
  return stats.sort()
}

test.each(READING)(
  'servo %s %s makes no folder for a mistyped place, and names it',
  async (...command) => {
    const place = join(folder, 'mistyped', 'ledger')
    expect(await shell.run([...command, '--store', `local:${place}`])).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining(`There is no folder ${place}`),
    })
    expect(await readdir(folder)).not.toContain('mistyped')
  },
  TIMEOUT_MS,
)

test(
  'a place where no folder can ever be is refused at once',
  async () => {
    const stats = await shell.run(['ledger', 'stats', '--store', 'local:/proc/1/foo'])
    expect(stats).toMatchObject({ code: 3, stderr: expect.stringContaining('There is no folder /proc/1/foo') })
  },
  TIMEOUT_MS,
)

test(
  'a ledger is read without one change to its folder',
  async () => {
    const place = ['--store', `local:${join(folder, 'store')}`, ...STORY_SCOPE]
    await writeFile(join(folder, 'deploy.ndjson'), deployLines())
    expect(await shell.run(['ledger', 'append', '--file', join(folder, 'deploy.ndjson'), ...place])).toMatchObject({ code: 0 })
    expect(await shell.run(['ledger', 'compact', ...place])).toMatchObject({ code: 0 })
    // As a copy may have it that left out what is empty.
    await rm(join(folder, 'store', '.servo'), { recursive: true })
    const before = await pathsIn(join(folder, 'store'))
    for (const command of READING) expect(await shell.run([...command, ...place])).toMatchObject({ code: 0 })
    expect(await pathsIn(join(folder, 'store'))).toEqual(before)
  },
  TIMEOUT_MS,
)
