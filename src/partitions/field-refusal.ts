// Sentences about a definition that is not right, with the field in them.

import type { z } from 'zod'
import { suggestion } from '../core/spelling.js'
import type { Refusal } from './key-order.js'

export const fieldRefusal = (field: string, problem: string): Refusal => ({
  problem: `The partitions' ${field} ${problem}${/[.?]$/.test(problem) ? '' : '.'}`,
})

/** `members`: those that the type has. */
export function schemaRefusal(error: z.ZodError, members: readonly string[]): Refusal {
  const issue = error.issues[0]
  if (issue?.code === 'unrecognized_keys') {
    const [unknown = ''] = issue.keys
    const sentence = `The partitions have the field "${unknown}", which this version does not know for their type: remove it.`
    return { problem: `${sentence}${suggestion(unknown, members)}` }
  }
  const path = issue?.path.map((part, i) => (typeof part === 'number' ? `[${part}]` : i > 0 ? `.${String(part)}` : String(part))).join('')
  return fieldRefusal(path ?? '', issue?.message ?? 'are not right')
}
