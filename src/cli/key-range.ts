// A range of partition keys, as it is typed: `2025-01-01..2025-01-31`.

import { UsageError } from './exit-code.js'

/** Both ends are in it. A key may have dots of its own, so the two dots are those in the middle that leave two ends. */
export function keyRangeOf(option: string, text: string): { readonly start: string; readonly end: string } {
  const at = text.indexOf('..')
  const [start, end] = [text.slice(0, at), text.slice(at + 2)]
  if (at > 0 && end !== '' && !end.includes('..')) return { start, end }
  throw new UsageError(`${option} is ${JSON.stringify(text)}. Write its first and its last key, such as 2025-01-01..2025-01-31.`)
}
