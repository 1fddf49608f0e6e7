// The log of an attempt, line by line. A client that follows it asks again with the place where it stopped. A chunk that
// arrives after a later one is seen by those who read from the beginning, and not by who is past it.

import { type AttemptIds, logChunkName, logFolder } from '../core/keys.js'
import { listPages } from '../storage/list-all.js'
import type { ObjectStore } from '../storage/object-store.js'
import { readIntact } from '../storage/read-intact.js'

/** The next line to read. */
type LogPlace = { readonly chunk: number; readonly line: number }

type LogLines = { readonly lines: readonly unknown[]; readonly next: LogPlace; readonly is_last: boolean }

export async function readLogs(
  store: ObjectStore,
  attempt: Pick<AttemptIds, 'run_id' | 'attempt_id'>,
  { from, limit }: { readonly from: LogPlace; readonly limit: number },
): Promise<LogLines> {
  const folder = logFolder(attempt)
  const lines: unknown[] = []
  let next = from
  // The place may be inside a chunk, which the listing has to show again.
  const after = from.chunk === 0 ? undefined : logChunkName(attempt, from.chunk - 1)
  for await (const { objects } of listPages(store, folder, after)) {
    for (const { name } of objects) {
      if (lines.length === limit) return { lines, next, is_last: false }
      const chunk = Number(name.slice(folder.length).replace('.ndjson', ''))
      const found = await readIntact(store, name)
      if (found.kind === 'absent') continue
      const texts = Buffer.from(found.bytes).toString('utf8').trimEnd().split('\n')
      const first = chunk === next.chunk ? next.line : 0
      const taken = texts.slice(first, first + limit - lines.length)
      lines.push(...taken.map((text) => JSON.parse(text) as unknown))
      next = { chunk, line: first + taken.length }
      if (next.line < texts.length) return { lines, next, is_last: false }
    }
  }
  return { lines, next, is_last: true }
}
