// How many files of a store are written while nobody asks for anything: every write of a folder store is a new file, or a
// file with another time.

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** What follows a run, such as the publish of its end, is over by then. */
const SETTLE_MS = 3_000

export async function writesOf(folder: string, watched_ms: number): Promise<number> {
  await sleep(SETTLE_MS)
  const before = await filesIn(join(folder, 'store'))
  await sleep(watched_ms)
  const after = await filesIn(join(folder, 'store'))
  return [...after].filter(([name, time]) => before.get(name) !== time).length
}

async function filesIn(folder: string): Promise<ReadonlyMap<string, number>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const times = await Promise.all(files.map(async (file) => (await stat(file)).mtimeMs))
  return new Map(files.map((file, i) => [file, times[i] as number]))
}
