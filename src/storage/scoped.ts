// A part of a store as a store of its own: names lose the prefix on the way out and gain it on the way in.

import type { ListAnswer, ObjectHead, ObjectStore } from './object-store.js'

/** `prefix` ends in a slash, as `tenant=acme/workspace=prod/`. */
export function scopedStore(store: ObjectStore, prefix: string): ObjectStore {
  const { filePath, now } = store
  const inside = (head: ObjectHead): ObjectHead => ({ ...head, name: head.name.slice(prefix.length) })
  return {
    label: `${store.label}/${prefix.replace(/\/$/, '')}`,
    page_is_snapshot: store.page_is_snapshot,
    same_name_interval_ms: store.same_name_interval_ms,
    async put(name, bytes, options) {
      const answer = await store.put(prefix + name, bytes, options)
      return answer.kind === 'stored' ? { ...answer, head: inside(answer.head) } : answer
    },
    async get(name) {
      const answer = await store.get(prefix + name)
      return answer.kind === 'found' ? { ...answer, head: inside(answer.head) } : answer
    },
    async head(name) {
      const answer = await store.head(prefix + name)
      return answer.kind === 'found' ? { ...answer, head: inside(answer.head) } : answer
    },
    async list(within, start_after) {
      const answer = await store.list(prefix + within, start_after === undefined ? undefined : prefix + start_after)
      return insidePage(answer, inside, prefix.length)
    },
    delete: (name, options) => store.delete(prefix + name, options),
    ...(now === undefined ? {} : { now }),
    ...(filePath === undefined ? {} : { filePath: (name: string, generation: string) => filePath(prefix + name, generation) }),
  }
}

const insidePage = (
  { objects, next, server_time }: ListAnswer,
  inside: (head: ObjectHead) => ObjectHead,
  prefix_length: number,
): ListAnswer => ({
  objects: objects.map(inside),
  server_time,
  ...(next === undefined ? {} : { next: next.slice(prefix_length) }),
})
