// Every object under a prefix, page by page: the one place that goes on after the last name of a page.

import type { ListAnswer, ObjectHead, ObjectStore } from './object-store.js'

/** Asks for a page when it is wanted, so that nothing is listed after the last one that its reader takes. */
export async function* listPages(store: Pick<ObjectStore, 'list'>, prefix: string, start_after?: string): AsyncGenerator<ListAnswer> {
  for (let after = start_after; ; ) {
    const page = await store.list(prefix, after)
    yield page
    if (page.next === undefined) return
    after = page.next
  }
}

/** The store's time is that of the first page: whatever is younger than it says may be missing. */
export async function listAll(
  store: ObjectStore,
  prefix: string,
): Promise<{ readonly objects: readonly ObjectHead[]; readonly server_time: number }> {
  const objects: ObjectHead[] = []
  let server_time = Number.POSITIVE_INFINITY
  for await (const page of listPages(store, prefix)) {
    objects.push(...page.objects)
    server_time = Math.min(server_time, page.server_time)
  }
  return { objects, server_time }
}
