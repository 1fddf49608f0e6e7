// From the four operating errors to what Temporal does about them, once: what may pass is tried again, what waiting does
// not mend is shown at once. A bug is tried again too: the loop backs off, and its page says what it was.

import { ApplicationFailure } from '@temporalio/activity'
import { isOperatingError } from '../core/errors.js'

export async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isOperatingError(error)) throw error
    const nonRetryable = error.kind === 'missing' || error.kind === 'corrupt'
    throw ApplicationFailure.create({ type: error.kind, message: error.message, nonRetryable, cause: error })
  }
}
