// The module that somebody names on the command line: what is wrong with it is wrong with what was asked for, so it is said
// in a sentence, and ends the command with 2.

import type { CodeLocation } from '../../sdk/code-location.js'
import { LoadError, loadCodeLocation } from '../../sdk/load.js'
import { UsageError } from '../exit-code.js'

export async function loadModule(path: string): Promise<CodeLocation> {
  try {
    return await loadCodeLocation(path)
  } catch (error) {
    throw error instanceof LoadError ? new UsageError(error.message) : error
  }
}
