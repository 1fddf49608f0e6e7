// Long lists, stored once by their content. A list is durable before any event names it, and is never replaced.

import { canonicalJson } from '../core/canonical.js'
import { sha256Hex } from '../core/hash.js'
import { listName } from '../core/keys.js'
import type { ObjectStore } from '../storage/object-store.js'
import { readIntact } from '../storage/read-intact.js'
import { writeOnce, type WriteOnce } from '../storage/write-once.js'

const textEncoder = new TextEncoder()
const textDecoder = new TextDecoder('utf-8', { fatal: true })

export async function writeList(deps: WriteOnce, values: readonly string[]): Promise<{ readonly sha256: string; readonly count: number }> {
  const text = canonicalJson(values)
  const sha256 = sha256Hex(text)
  await writeOnce(deps, listName(sha256), textEncoder.encode(text))
  return { sha256, count: values.length }
}

/** undefined: not there, or not what its name says. Whoever named it is quarantined, and nothing else is held up. */
export async function readList(store: ObjectStore, sha256: string): Promise<readonly string[] | undefined> {
  // A damaged answer is no altered list: what is quarantined for want of a list stays so for ever.
  const answer = await readIntact(store, listName(sha256))
  if (answer.kind === 'absent' || sha256Hex(answer.bytes) !== sha256) return undefined
  const values: unknown = JSON.parse(textDecoder.decode(answer.bytes))
  const isList = Array.isArray(values) && values.every((value) => typeof value === 'string')
  return isList ? values : undefined
}
