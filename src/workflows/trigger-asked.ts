// What an update that triggers a schedule may say. Whoever types it into a form gets no schema: what is not understood is
// refused before anything is asked for, because a partition that was dropped would be another partition. Pure.

import type { TriggerAsked } from './contract.js'

const EXAMPLES: Readonly<Record<keyof TriggerAsked, string>> = {
  request_id: 'by-hand-1',
  partition: '2025-01-15',
  instant: '2025-01-15T10:00:00.000Z',
  requested_by: 'user:1',
  reason: 'A trial.',
}

const SHOWN_CHARACTERS_MAX = 100
const shown = (value: unknown): string => (JSON.stringify(value) ?? typeof value).slice(0, SHOWN_CHARACTERS_MAX)

/** undefined: it can be asked. */
export function triggerFault(asked: unknown): string | undefined {
  const members = (typeof asked === 'object' && asked !== null ? asked : {}) as Readonly<Record<string, unknown>>
  const request_id = members['request_id']
  if (typeof request_id !== 'string' || request_id === '') {
    return 'The trigger has no request_id. Give it one, such as {"request_id": "by-hand-1"}: the same one again is the same tick.'
  }
  for (const [name, value] of Object.entries(members)) {
    if (!Object.hasOwn(EXAMPLES, name)) {
      return `${shown(name)} is no member of a trigger. It has ${Object.keys(EXAMPLES).join(', ')}: take one of them, or leave it out.`
    }
    if (typeof value !== 'string') {
      const example = EXAMPLES[name as keyof TriggerAsked]
      return `The trigger's ${name} is ${shown(value)}. Give it text, such as "${example}", or leave it out.`
    }
  }
  return undefined
}
