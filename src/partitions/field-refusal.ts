// Sentences about a definition that is not right, with the field in them.

import type { z } from 'zod'
import type { Refusal } from './key-order.js'

export const fieldRefusal = (field: string, problem: string): Refusal => ({
  problem: `The partitions' ${field} ${problem}${/[.?]$/.test(problem) ? '' : '.'}`,
})

export function schemaRefusal(error: z.ZodError): Refusal {
  const issue = error.issues[0]
  if (issue?.code === 'unrecognized_keys') {
    return { problem: `The partitions have the field "${issue.keys[0]}", which this version does not know for their type: remove it.` }
  }
  const path = issue?.path.map((part, i) => (typeof part === 'number' ? `[${part}]` : i > 0 ? `.${String(part)}` : String(part))).join('')
  return fieldRefusal(path ?? '', issue?.message ?? 'are not right')
}
