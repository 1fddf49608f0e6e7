// A store from what a person writes: `local:PATH` or `gs://bucket/prefix`.

import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { messageOf, unavailable } from '../core/errors.js'
import { createLocalStore } from './local.js'
import type { ObjectStore } from './object-store.js'
import { scopedStore } from './scoped.js'

type OpenStoreOptions = {
  /** Another endpoint than Google's, for tests and emulators: `http://127.0.0.1:4443`. */
  readonly gcs_endpoint?: string
  readonly gcs_project_id?: string
  /** `read`: a folder has to be there. Without it, the first write makes it. */
  readonly access?: 'read' | 'write'
}

const BUCKET = /^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/

/** What is wrong with the text, as a sentence for whoever wrote it; `undefined` when it names a store. */
export function storeFault(text: string): string | undefined {
  if (text.startsWith('local:')) {
    return text.length > 'local:'.length ? undefined : 'The store "local:" names no folder. Write local:PATH, for example local:./ledger.'
  }
  if (!text.startsWith('gs://')) {
    return `The store ${JSON.stringify(text)} is of no known kind. Write local:PATH for a folder, or gs://bucket/prefix for Google Cloud Storage.`
  }
  const { bucket, prefix } = bucketAndPrefix(text)
  if (!BUCKET.test(bucket))
    return `The store ${JSON.stringify(text)} names no valid bucket. Write gs://bucket/prefix, with the bucket's name in lower case.`
  if (`/${prefix}`.includes('//')) return `The store ${JSON.stringify(text)} has an empty part in its prefix. Remove the doubled slash.`
  return undefined
}

export async function openStore(text: string, options: OpenStoreOptions = {}): Promise<ObjectStore> {
  const fault = storeFault(text)
  if (fault !== undefined) throw unavailable(fault)
  if (text.startsWith('local:')) return openLocal(text.slice('local:'.length), options)
  const { bucket, prefix } = bucketAndPrefix(text)
  // The client takes longer to load than all the rest: who uses a folder does not pay for it.
  const { createGcsStore } = await import('./gcs.js')
  const { gcs_endpoint, gcs_project_id } = options
  const store = await createGcsStore({
    bucket,
    ...(gcs_endpoint === undefined ? {} : { api_endpoint: gcs_endpoint }),
    ...(gcs_project_id === undefined ? {} : { project_id: gcs_project_id }),
  })
  return prefix === '' ? store : scopedStore(store, `${prefix}/`)
}

function openLocal(folder: string, { access = 'write' }: OpenStoreOptions): ObjectStore {
  const path = resolve(folder)
  const found = nearestIn(path)
  if (!found.is_folder) throw unavailable(`The store local:${folder} is no folder: ${found.path} is a file. Check the path and its rights.`)
  if (access === 'read' && found.path !== path) {
    throw unavailable(`There is no folder ${path}, so there is nothing to read. Check the path; the first write makes the folder.`)
  }
  return createLocalStore({ folder })
}

/** The folder, or the lowest above it that is there. */
function nearestIn(path: string): { readonly path: string; readonly is_folder: boolean } {
  try {
    for (let nearest = path; ; nearest = dirname(nearest)) {
      const stats = statSync(nearest, { throwIfNoEntry: false })
      if (stats !== undefined) return { path: nearest, is_folder: stats.isDirectory() }
    }
  } catch (error) {
    throw unavailable(`The folder ${path} could not be read: ${messageOf(error)}. Check the path and its rights.`, error)
  }
}

function bucketAndPrefix(text: string): { readonly bucket: string; readonly prefix: string } {
  const rest = text.slice('gs://'.length).replace(/\/$/, '')
  const slash = rest.indexOf('/')
  return slash < 0 ? { bucket: rest, prefix: '' } : { bucket: rest.slice(0, slash), prefix: rest.slice(slash + 1) }
}
