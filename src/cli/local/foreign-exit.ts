// Reports a `process.exit` that a user's code calls in a command. Otherwise the command would end silently, and with exit code 0 it
// would look as if it had done its work.

import { FAILED } from '../exit-code.js'

/** Call the result to stop reporting. An uncaught exception is left to Node, which prints it. */
export function reportForeignExit(report: (code: number) => void): () => void {
  let isThrown = false
  const onThrown = () => {
    isThrown = true
  }
  const onExit = (code: number) => {
    if (isThrown) return
    report(code)
    process.exitCode = FAILED
  }
  process.on('uncaughtExceptionMonitor', onThrown)
  process.on('exit', onExit)
  return () => {
    process.removeListener('uncaughtExceptionMonitor', onThrown)
    process.removeListener('exit', onExit)
  }
}
