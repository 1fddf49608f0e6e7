// Temporary folders of processes that were killed are removed by the next one, and those of the living stay.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { TEMPORARY_FOLDER_UNLOCKED_MS } from '../../src/core/limits.js'
import { createTemporaryFolder, removeDeadFolders } from '../../src/storage/temporary-folder.js'
import { until } from '../fixtures/until.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

let parent = ''
const children: ChildProcess[] = []

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'test-temporary-'))
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(parent, { recursive: true, force: true })
})

async function startChild() {
  const child = spawn(process.execPath, ['--import', './scripts/typescript.js', 'test/fixtures/temporary-folder-child.ts', parent], {
    cwd: ROOT,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.push(child)
  const [path] = (await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line')) as [string]
  return { child, path }
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

describe('the folder of a process', () => {
  test('is for its owner alone, and gone when it is removed', async () => {
    const temporary = createTemporaryFolder('merge', parent)
    expect(existsSync(temporary.path)).toBe(false)
    await Promise.all([temporary.make(), temporary.make()])
    expect(statSync(temporary.path).mode & 0o777).toBe(0o700)
    await temporary.remove()
    expect(readdirSync(parent)).toEqual([])
  })

  test('that was killed is removed by the next one that makes a folder; that of a living or a stopped one stays', async () => {
    const [dead, living, stopped] = [await startChild(), await startChild(), await startChild()]
    stopped.child.kill('SIGSTOP')
    await kill(dead.child)
    const own = createTemporaryFolder('cache', parent)
    await own.make()
    expect([dead.path, living.path, stopped.path, own.path].map((path) => existsSync(path))).toEqual([false, true, true, true])
    expect(readdirSync(living.path).sort()).toEqual(['lock', 'rows.parquet'])
    await own.remove()
  })
})

test('a folder without a lock stays while anything in it is new, and other folders always do', async () => {
  const folderOf = (name: string, age_ms: number): string => {
    const path = join(parent, name)
    mkdirSync(path)
    writeFileSync(join(path, 'rows.parquet'), 'rows')
    const at = (Date.now() - age_ms) / 1_000
    utimesSync(join(path, 'rows.parquet'), at, at)
    utimesSync(path, at, at)
    return path
  }
  const old = folderOf('servo-cache-old', 2 * TEMPORARY_FOLDER_UNLOCKED_MS)
  const used = folderOf('servo-merge-used', 2 * TEMPORARY_FOLDER_UNLOCKED_MS)
  utimesSync(join(used, 'rows.parquet'), Date.now() / 1_000, Date.now() / 1_000)
  const young = folderOf('servo-rebuild-young', 0)
  const other = folderOf('servo-caches', 2 * TEMPORARY_FOLDER_UNLOCKED_MS)
  await removeDeadFolders(parent)
  expect([old, used, young, other].map((path) => existsSync(path))).toEqual([false, true, true, true])
})

test('a folder that is being made is under another name until its lock is held, and that name is swept by age alone', async () => {
  const seen = new Set<string>()
  const watcher = watch(parent, (_, name) => void seen.add(String(name)))
  try {
    const temporary = createTemporaryFolder('cache', parent)
    await temporary.make()
    await until('both names were seen', () => seen.has(basename(temporary.path)) && seen.size === 2)
    const [starting = ''] = seen
    expect(starting).toMatch(/^servo-start-/)
    await temporary.remove()
  } finally {
    watcher.close()
  }
  // The lock of a dead process answers as one that is bound and not listened on yet.
  const { child, path } = await startChild()
  await kill(child)
  const [young, old] = [join(parent, 'servo-start-young'), join(parent, 'servo-start-old')]
  cpSync(path, old, { recursive: true, filter: (from) => !from.endsWith('lock') })
  renameSync(path, young)
  const at = (Date.now() - 2 * TEMPORARY_FOLDER_UNLOCKED_MS) / 1_000
  for (const aged of [join(old, 'rows.parquet'), old]) utimesSync(aged, at, at)
  await removeDeadFolders(parent)
  expect([young, old].map((each) => existsSync(each))).toEqual([true, false])
})

test('where the path is too long for a lock, folders are made, and go by their age', async () => {
  const deep = join(parent, 'd'.repeat(100))
  mkdirSync(deep)
  const temporary = createTemporaryFolder('cache', deep)
  await temporary.make()
  expect(readdirSync(temporary.path)).toEqual([])
  await removeDeadFolders(deep)
  expect(existsSync(temporary.path)).toBe(true)
  await temporary.remove()
})
