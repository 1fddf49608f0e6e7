// Why a run cannot be planned, in words that fit an event. A sentence that names many things says how many it left out;
// one that is too long would be quarantined, and its run would wait for ever.

import { utf8Bytes } from '../core/canonical.js'
import { ERROR_MESSAGE_BYTES_MAX } from '../core/limits.js'
import type { EventOf } from '../events/event.js'

export type PlanFault = EventOf<'PlanFailed'>['payload']['error']

/** Room for the words around what is named. */
const NAMED_BYTES_MAX = ERROR_MESSAGE_BYTES_MAX - 512

export function planFault(code: PlanFault['code'], message: string, named: readonly string[] = [], end = ''): PlanFault {
  return { code, message: fitting(named.length === 0 ? message + end : message + namesOf(named) + end) }
}

function namesOf(named: readonly string[]): string {
  let bytes = 0
  const shown: string[] = []
  for (const name of named) {
    bytes += utf8Bytes(name) + 2
    if (bytes > NAMED_BYTES_MAX && shown.length > 0) return `${shown.join(', ')} and ${named.length - shown.length} more`
    shown.push(name)
  }
  return shown.join(', ')
}

/** A unit of UTF-16 is three bytes at most; half a character at the cut is replaced. */
function fitting(message: string): string {
  if (utf8Bytes(message) <= ERROR_MESSAGE_BYTES_MAX) return message
  return `${message.slice(0, Math.floor(ERROR_MESSAGE_BYTES_MAX / 3) - 1).toWellFormed()}…`
}
