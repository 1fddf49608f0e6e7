// Documents of JSON under a schema of their own: one that this version cannot read is refused with what to do.

import type { z } from 'zod'
import { corrupt, messageOf } from '../core/errors.js'

const textDecoder = new TextDecoder('utf-8', { fatal: true })
const textEncoder = new TextEncoder()

export function parseDocument<T>(schema: z.ZodType<T>, name: string, bytes: Uint8Array): T {
  let raw: unknown
  try {
    raw = JSON.parse(textDecoder.decode(bytes))
  } catch (error) {
    throw corrupt(`${name} is not JSON (${messageOf(error)}). Run \`servo ledger verify\` to see what else is damaged.`, error)
  }
  const parsed = schema.safeParse(raw)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const found = (raw as { schema?: unknown } | null)?.schema
  throw corrupt(
    `${name} (schema ${JSON.stringify(found)}) cannot be read by this version: ${issue?.path.join('.')} ${issue?.message}. ` +
      'If a newer Servo wrote it, install that version; else run `servo ledger verify`.',
  )
}

export const encodeDocument = (document: object): Uint8Array => textEncoder.encode(JSON.stringify(document))
