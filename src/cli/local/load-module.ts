// Loads the module that is named on the command line. A module that cannot be loaded is a fault of what was asked for: one
// sentence, and exit code 2. One that ends this process, or never finishes loading, is reported too, with exit code 1.

import type { CodeLocation } from '../../sdk/code-location.js'
import { LoadError, loadCodeLocation } from '../../sdk/load.js'
import { FailedError, UsageError } from '../exit-code.js'
import { reportForeignExit } from './foreign-exit.js'
import { note } from './print.js'

/** Most modules load within a second; those that import large packages on a busy machine need a few. */
const SLOW_AFTER_MS = 10_000

export async function loadModule(path: string, say: (line: string) => void = note): Promise<CodeLocation> {
  const forgetExit = reportForeignExit((code) => say(`servo: ${exitedSentence(path, code)}`))
  const stuck = whenStuck(path)
  const slow = setTimeout(() => say(slowSentence(path)), SLOW_AFTER_MS)
  // It must not keep a process that has nothing else to wait for: `stuck` reports that one.
  slow.unref()
  try {
    return await Promise.race([loadCodeLocation(path), stuck.rejected])
  } catch (error) {
    throw error instanceof LoadError ? new UsageError(error.message) : error
  } finally {
    clearTimeout(slow)
    stuck.forget()
    forgetExit()
  }
}

/** Node ends a process whose event loop is empty, whatever is still awaited in it, and says nothing but exit code 13. */
function whenStuck(path: string): { readonly rejected: Promise<never>; readonly forget: () => void } {
  let onIdle = () => undefined as void
  const rejected = new Promise<never>((_, reject) => {
    onIdle = () => reject(new FailedError(stuckSentence(path)))
  })
  process.once('beforeExit', onIdle)
  return { rejected, forget: () => void process.removeListener('beforeExit', onIdle) }
}

const exitedSentence = (path: string, code: number): string =>
  `${path} could not be loaded: its code ended the process with process.exit(${code}). Remove that call, or move it into \`run\`; throw an error where the module cannot go on.`

const stuckSentence = (path: string): string =>
  `${path} could not be loaded: it awaits something at its top level that never comes, and nothing is left that could bring it. Look at the \`await\` outside of functions in it and in what it imports.`

const slowSentence = (path: string): string =>
  `${path} is still loading after ${SLOW_AFTER_MS / 1_000} s: what it does or awaits outside of functions takes that long.`
