// Long lists, stored once by their content. A list is durable before any event names it, and is never replaced.

import { isUtf8 } from 'node:buffer'
import { canonicalJson } from '../core/canonical.js'
import { sha256Hex } from '../core/hash.js'
import { listName } from '../core/keys.js'
import { LIST_BYTES_MAX } from '../core/limits.js'
import type { ObjectStore } from '../storage/object-store.js'
import { readIntact } from '../storage/read-intact.js'
import { type WriteOnce, writeOnce } from '../storage/write-once.js'

const textEncoder = new TextEncoder()

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
  if (answer.kind === 'absent' || answer.bytes.length > LIST_BYTES_MAX || sha256Hex(answer.bytes) !== sha256) return undefined
  return parseList(answer.bytes)
}

/** The name says that the bytes are what somebody wrote, and not that it was a list: anybody can hash anything. */
function parseList(bytes: Uint8Array): readonly string[] | undefined {
  if (!isUtf8(bytes)) return undefined
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  try {
    const values: unknown = JSON.parse(text)
    if (!Array.isArray(values) || !values.every((value) => typeof value === 'string' && value.isWellFormed())) return undefined
    // One list has one name, so each value occurs once and the text is the canonical one.
    return new Set(values).size === values.length && canonicalJson(values) === text ? values : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
