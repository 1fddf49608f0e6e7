// Looks after the code of a module: whoever edits it in `servo dev` runs what he sees, without a word to the worker. Folder
// by folder, because what is left out is often a hundred times as large as what is looked at.

import { existsSync, type FSWatcher, readdirSync, watch } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { messageOf } from '../../../core/errors.js'

/** Not .json: tasks write it beside their module, and a worker that started anew for its own task's file would never end it. */
const CODE = new Set(['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx'])
/** What is installed or made from the code; of folders with a dot, editors and tools know why they are hidden. */
const isLeftOut = (name: string): boolean => name === 'node_modules' || name === 'dist' || name.startsWith('.')
/** Editors write a file in several steps, and a checkout many files. */
const QUIET_MS = 300
/** A module that lies in somebody's home folder: each of them costs a watch of the system, which has thousands. */
const FOLDERS_MAX = 1_000

type WatchOptions = {
  readonly module: string
  /** Where `servo dev` itself writes. */
  readonly data_folder: string
  readonly onChange: () => void
  readonly say: (line: string) => void
  readonly folders_max?: number
}

/** Calls once for all that changes within a moment, in the module's folder and below. */
export function watchCode({ module, data_folder, onChange, say, folders_max = FOLDERS_MAX }: WatchOptions): { readonly stop: () => void } {
  const root = dirname(module)
  const watchers = new Map<string, FSWatcher>()
  let timer: NodeJS.Timeout | undefined
  let isFull = false
  let isOver = false

  function stop(): void {
    isOver = true
    clearTimeout(timer)
    for (const watcher of watchers.values()) watcher.close()
    watchers.clear()
  }

  function giveUp(why: string): void {
    if (isOver) return
    stop()
    say(
      `Changes of ${module} are not noticed any more: ${why}. The worker keeps the code that it has; start \`servo dev\` again to run another.`,
    )
  }

  const changed = (): void => {
    clearTimeout(timer)
    timer = setTimeout(onChange, QUIET_MS)
  }

  function forget(folder: string): void {
    watchers.get(folder)?.close()
    watchers.delete(folder)
    if (folder === root) giveUp(`its folder ${root} is gone`)
  }

  function onEvent(folder: string, name: string | null): void {
    if (isOver) return
    if (!existsSync(folder)) return forget(folder)
    if (name === null) return
    if (CODE.has(extname(name))) changed()
    // A folder that came: what lies in it already has changed too.
    else if (!isLeftOut(name) && !watchers.has(join(folder, name)) && look(join(folder, name))) changed()
  }

  /** Breadth first, so that the nearest are those that count. true: there is code in it. */
  function look(first: string): boolean {
    let hasCode = false
    const waiting = [first]
    for (let folder = waiting.shift(); folder !== undefined && !isOver; folder = waiting.shift()) {
      if (folder === data_folder || watchers.has(folder)) continue
      const entries = entriesOf(folder)
      if (entries === undefined) continue
      if (watchers.size >= folders_max) {
        if (!isFull)
          say(
            `There are more than ${folders_max} folders below ${root}: changes in ${folder} and others are not noticed. Put the module in a folder of its own.`,
          )
        isFull = true
        return hasCode
      }
      add(folder)
      hasCode ||= entries.some((entry) => entry.isFile() && CODE.has(extname(entry.name)))
      for (const entry of entries) if (entry.isDirectory() && !isLeftOut(entry.name)) waiting.push(join(folder, entry.name))
    }
    return hasCode
  }

  function add(folder: string): void {
    try {
      const watcher = watch(folder, (_, name) => onEvent(folder, name))
      watchers.set(folder, watcher)
      watcher.on('error', (error) => (existsSync(folder) ? giveUp(whyNot(error)) : forget(folder)))
    } catch (error) {
      if (existsSync(folder)) giveUp(whyNot(error))
    }
  }

  look(root)
  return { stop }
}

/** undefined: it is no folder, or not one that may be read. */
function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return undefined
  }
}

function whyNot(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC') return 'this machine has no watches left (on Linux, fs.inotify.max_user_watches is how many there are)'
  if (code === 'EMFILE') return 'this machine has no watches or open files left (on Linux, fs.inotify.max_user_instances and `ulimit -n`)'
  return messageOf(error)
}
