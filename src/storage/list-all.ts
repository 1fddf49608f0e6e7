// Every object under a prefix, page by page.

import type { ObjectHead, ObjectStore } from './object-store.js'

/** The store's time is that of the first page: whatever is younger than it says may be missing. */
export async function listAll(
  store: ObjectStore,
  prefix: string,
): Promise<{ readonly objects: readonly ObjectHead[]; readonly server_time: number }> {
  const objects: ObjectHead[] = []
  let server_time = Number.POSITIVE_INFINITY
  let start_after: string | undefined
  do {
    const page = await store.list(prefix, start_after)
    objects.push(...page.objects)
    server_time = Math.min(server_time, page.server_time)
    start_after = page.next
  } while (start_after !== undefined)
  return { objects, server_time }
}
