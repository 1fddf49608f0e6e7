// The object store in memory, for tests and simulations: what it answers is decided when it is called, and its
// time is whatever clock it is given. Several stores on one state are several processes on one bucket.

import { crc32cHex } from '../core/hash.js'
import { firstIndex } from '../core/sorted.js'
import { type Clock, instantText } from '../core/time.js'
import type { DeleteAnswer, GetAnswer, HeadAnswer, ListAnswer, ObjectHead, ObjectStore, PutAnswer, PutOptions } from './object-store.js'
import { CREATE, PAGE_SIZE } from './object-store.js'

type Stored = { readonly head: ObjectHead; readonly bytes: Uint8Array }

/** What a bucket is: it outlives every store on it, as a bucket outlives the processes that use it. */
export type MemoryState = {
  readonly objects: Map<string, Stored>
  /** In code unit order. */
  readonly names: string[]
  /** The highest time that the state has seen: creation stamps never go back. */
  now_ms: number
  generations: number
}

export const createMemoryState = (): MemoryState => ({ objects: new Map(), names: [], now_ms: 0, generations: 0 })

type MemoryStoreOptions = {
  readonly clock: Pick<Clock, 'now'>
  readonly label?: string
  readonly state?: MemoryState
  /** Smaller pages than the port promises, so that a test needs fewer objects for the second one. */
  readonly page_size?: number
}

export function createMemoryStore(options: MemoryStoreOptions): ObjectStore {
  const { clock, label = 'memory:', state = createMemoryState(), page_size = PAGE_SIZE } = options
  const serverTime = () => {
    state.now_ms = Math.max(state.now_ms, clock.now())
    return state.now_ms
  }
  return {
    label,
    page_is_snapshot: false,
    same_name_interval_ms: 0,
    put: async (name, bytes, put_options) => putObject(state, serverTime(), name, bytes, put_options),
    get: async (name) => getObject(state, serverTime(), name),
    head: async (name) => headObject(state, serverTime(), name),
    list: async (prefix, start_after) => listObjects(state, serverTime(), page_size, prefix, start_after),
    delete: async (name, { if_generation }) => deleteObject(state, name, if_generation),
  }
}

function putObject(state: MemoryState, server_time: number, name: string, bytes: Uint8Array, options: PutOptions): PutAnswer {
  const present = state.objects.get(name)
  if ((present?.head.generation ?? CREATE) !== options.if_generation) return { kind: 'precondition_failed', server_time }
  if (present === undefined) state.names.splice(firstIndexAfter(state.names, name), 0, name)
  const head: ObjectHead = {
    name,
    generation: String(++state.generations),
    creation_time: instantText(server_time),
    size: bytes.length,
    crc32c: crc32cHex(bytes),
    meta: { ...options.meta },
  }
  // Copies on both ways: a caller that goes on using its buffer changes nothing here.
  state.objects.set(name, { head, bytes: new Uint8Array(bytes) })
  return { kind: 'stored', head, server_time, late: false }
}

function getObject(state: MemoryState, server_time: number, name: string): GetAnswer {
  const present = state.objects.get(name)
  if (present === undefined) return { kind: 'absent', server_time }
  return { kind: 'found', head: present.head, bytes: new Uint8Array(present.bytes), server_time }
}

function headObject(state: MemoryState, server_time: number, name: string): HeadAnswer {
  const present = state.objects.get(name)
  return present === undefined ? { kind: 'absent', server_time } : { kind: 'found', head: present.head, server_time }
}

function listObjects(state: MemoryState, server_time: number, page_size: number, prefix: string, start_after?: string): ListAnswer {
  const { names } = state
  const objects: ObjectHead[] = []
  let index = start_after !== undefined && start_after >= prefix ? firstIndexAfter(names, start_after) : firstIndexFrom(names, prefix)
  for (; index < names.length; index++) {
    const name = names[index] as string
    if (!name.startsWith(prefix)) break
    if (objects.length === page_size) return { objects, next: (objects[page_size - 1] as ObjectHead).name, server_time }
    objects.push((state.objects.get(name) as Stored).head)
  }
  return { objects, server_time }
}

function deleteObject(state: MemoryState, name: string, if_generation: string): DeleteAnswer {
  const present = state.objects.get(name)
  if (present === undefined) return { kind: 'absent' }
  if (present.head.generation !== if_generation) return { kind: 'precondition_failed' }
  state.objects.delete(name)
  state.names.splice(firstIndexFrom(state.names, name), 1)
  return { kind: 'deleted' }
}

const firstIndexFrom = (names: readonly string[], name: string): number => firstIndex(names, (other) => other >= name)
const firstIndexAfter = (names: readonly string[], name: string): number => firstIndex(names, (other) => other > name)
