// What lies in the folder of a workspace, by kind: files as the file system has them, so replaced generations and tombstones
// count as well. Files are written once, so each is measured when it is first seen.

import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

export const OBJECT_KINDS = {
  segments: 'ledger/orchestration/',
  packs: 'ledger/orchestration-packs/',
  revisions: 'manifests/orchestration/revisions/',
  checkpoints: 'manifests/orchestration/checkpoints/',
  chain: 'manifests/orchestration/chain/',
  l0: 'state/orchestration/l0/',
  base: 'state/orchestration/base/',
  starts: 'starts/',
  claims: 'claims/',
  other: '',
} as const

export type ObjectKind = keyof typeof OBJECT_KINDS
export type Counted = { readonly count: number; readonly bytes: number }
export type Objects = Readonly<Record<ObjectKind, Counted>>

const KINDS = Object.keys(OBJECT_KINDS) as ObjectKind[]

export const totalOf = (objects: Objects): Counted => ({
  count: KINDS.reduce((sum, kind) => sum + objects[kind].count, 0),
  bytes: KINDS.reduce((sum, kind) => sum + objects[kind].bytes, 0),
})

/** `folder`: that of the workspace. Answers what there is now, each time that it is called. */
export function openObjects(folder: string): () => Promise<Objects> {
  let sizes = new Map<string, number>()

  /** One that is there no more was replaced or deleted while this went on. */
  const sizeOf = async (path: string): Promise<number | undefined> =>
    sizes.get(path) ??
    stat(path).then(
      ({ size }) => size,
      () => undefined,
    )

  return async () => {
    const seen = new Map<string, number>()
    const counts = Object.fromEntries(KINDS.map((kind) => [kind, { count: 0, bytes: 0 }])) as Record<
      ObjectKind,
      { count: number; bytes: number }
    >
    for await (const path of filesIn(folder)) {
      const size = await sizeOf(path)
      if (size === undefined) continue
      seen.set(path, size)
      const counted = counts[kindOf(path.slice(folder.length + 1))]
      counted.count += 1
      counted.bytes += size
    }
    sizes = seen
    return counts
  }
}

async function* filesIn(folder: string): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => [])
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesIn(path)
    else if (entry.isFile()) yield path
  }
}

const kindOf = (below: string): ObjectKind => KINDS.find((kind) => below.startsWith(OBJECT_KINDS[kind])) ?? 'other'
