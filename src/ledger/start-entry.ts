// One entry of a log of starts: the attempts that were claimed at the same time, and by which executions.

import { z } from 'zod'
import { parseJson } from '../core/json.js'
import { type StartGroup, startLogName } from '../core/keys.js'
import { instantMs, instantText } from '../core/time.js'

const SCHEMA = 'servo-starts-v1'

const start = z.object({
  run_id: z.string(),
  task_key: z.string(),
  attempt: z.int(),
  attempt_id: z.string(),
  execution_id: z.string(),
  worker_id: z.string(),
  sequence: z.int(),
})
const entry = z.object({
  schema: z.literal(SCHEMA),
  location_name: z.string(),
  dispatched_at: z.string(),
  number: z.int().positive(),
  claimed_at: z.string(),
  starts: z.array(start).min(1),
})

export type StartClaim = z.infer<typeof start>
export type StartEntry = StartGroup & { readonly number: number; readonly starts: readonly StartClaim[] }

export const startEntryDocument = ({ dispatched_at, ...rest }: StartEntry, now: number): object => ({
  schema: SCHEMA,
  ...rest,
  dispatched_at: instantText(dispatched_at),
  claimed_at: instantText(now),
})

/** undefined: it is damaged, of another version, or not what its name says. */
export function parseStartEntry(name: string, bytes: Uint8Array): StartEntry | undefined {
  const parsed = entry.safeParse(parseJson(Buffer.from(bytes).toString('utf8')))
  if (!parsed.success) return undefined
  const { location_name, number, starts } = parsed.data
  const group = { location_name, dispatched_at: instantMs(parsed.data.dispatched_at) }
  return startLogName(group, number) === name ? { ...group, number, starts } : undefined
}
