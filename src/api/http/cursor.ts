// Where a page ended, as text that nobody needs to understand: the key of its last row, so that rows which others write
// move no page.

import { z } from 'zod'
import { problem } from '../../commands/problem.js'
import { parseJson } from '../../core/json.js'
import { RefusedError } from '../problems.js'

const VERSION = 1
const CURSOR = z.object({ v: z.literal(VERSION), of: z.string(), at: z.array(z.union([z.string(), z.number()])) })

type CursorKey = readonly (string | number)[]

export const writeCursor = (of: string, at: CursorKey): string => Buffer.from(JSON.stringify({ v: VERSION, of, at })).toString('base64url')

/** `of` names the list: a cursor of another one leads nowhere. */
export function readCursor(of: string, text: string | undefined, length: number): CursorKey | undefined {
  if (text === undefined) return undefined
  const parsed = CURSOR.safeParse(parseJson(Buffer.from(text, 'base64url').toString('utf8')))
  if (parsed.success && parsed.data.of === of && parsed.data.at.length === length) return parsed.data.at
  const message = 'The cursor is damaged, or of another list. Send next_cursor of the page before as it is, or begin without one.'
  throw new RefusedError(problem('bad-input', message, { faults: [{ path: 'cursor', message }] }))
}
