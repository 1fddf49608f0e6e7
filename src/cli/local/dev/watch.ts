// Looks after the code of a module: whoever edits it in `servo dev` runs what he sees, without a word to the worker.

import { type FSWatcher, watch } from 'node:fs'
import { dirname, extname } from 'node:path'

const CODE = new Set(['.ts', '.mts', '.js', '.mjs', '.json'])
const LEFT_OUT = /(^|[\\/])(node_modules|\.git|\.servo|dist)([\\/]|$)/
/** Editors write a file in several steps, and a checkout many files. */
const QUIET_MS = 300

/** Calls once for all that changes within a moment, in the module's folder and below. */
export function watchCode(module: string, call: () => void): { readonly stop: () => void } {
  let timer: NodeJS.Timeout | undefined
  const watcher: FSWatcher = watch(dirname(module), { recursive: true }, (_, file) => {
    if (file === null || !CODE.has(extname(file)) || LEFT_OUT.test(file)) return
    clearTimeout(timer)
    timer = setTimeout(call, QUIET_MS)
  })
  // A folder that goes away, or a machine with no watches left: the worker keeps the code that it has.
  watcher.on('error', () => watcher.close())
  return {
    stop() {
      clearTimeout(timer)
      watcher.close()
    },
  }
}
