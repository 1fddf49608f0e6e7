// The object store on Google Cloud Storage, through the official client with everything switched off that repeats,
// checks or deletes by itself: LEDGER section 3 says what each of these does to a conditional write.

import type { Bucket, File } from '@google-cloud/storage'
import { corrupt, isOperatingError, messageOf, missing, unavailable } from '../core/errors.js'
import { crc32cHex } from '../core/hash.js'
import type { Clock } from '../core/time.js'
import { createGcsTime, type GcsTime, type Headers } from './gcs-time.js'
import {
  CREATE,
  type DeleteAnswer,
  type GetAnswer,
  type HeadAnswer,
  type ListAnswer,
  type ObjectHead,
  type ObjectStore,
  PAGE_SIZE,
  type PutAnswer,
  type PutOptions,
} from './object-store.js'
import { scopedStore } from './scoped.js'

export type GcsStoreOptions = {
  readonly bucket: string
  /** Without slashes around it. */
  readonly prefix?: string
  /** Of a fake, `http://127.0.0.1:4443`: it is called without credentials. */
  readonly api_endpoint?: string
  readonly project_id?: string
  /** Smaller pages than the port promises, so that a test needs fewer objects for the second one. */
  readonly page_size?: number
  readonly timeout_ms?: number
  /** Of a call that changes nothing: until it is answered, and between two parts of a body. */
  readonly read_timeout_ms?: number
  readonly clock?: Pick<Clock, 'now' | 'elapsed'>
}

const GOOGLE_ENDPOINT = 'https://storage.googleapis.com'
/** Longer than the largest segment takes on a slow line; without a bound a call could wait for ever. */
const REQUEST_TIMEOUT_MS = 30_000
/** A turn stands still while it waits for an answer that was lost, and a read can be made again at once: nothing is in doubt. */
const READ_TIMEOUT_MS = 10_000
/** A read whose two requests met different generations is made again. */
const READ_TRIES_MAX = 5
/** Only what a head needs: a page of 1,000 names is 400 KB, with everything that GCS knows it is 1 MB. */
const HEAD_FIELDS = 'name,generation,timeCreated,size,crc32c,metadata'

const systemTime: Pick<Clock, 'now' | 'elapsed'> = { now: () => Date.now(), elapsed: () => performance.now() }

export async function createGcsStore(options: GcsStoreOptions): Promise<ObjectStore> {
  const { Storage } = await import('@google-cloud/storage')
  const { bucket: bucket_name, prefix, api_endpoint, project_id, page_size = PAGE_SIZE, clock = systemTime } = options
  const { timeout_ms = REQUEST_TIMEOUT_MS, read_timeout_ms = Math.min(READ_TIMEOUT_MS, timeout_ms) } = options
  const endpoint = (api_endpoint ?? GOOGLE_ENDPOINT).replace(/\/$/, '')
  const storage = new Storage({
    apiEndpoint: endpoint,
    // Google's own endpoint counts as custom where STORAGE_EMULATOR_HOST is set, and must still be asked with credentials.
    useAuthWithCustomEndpoint: api_endpoint === undefined,
    retryOptions: { autoRetry: false, maxRetries: 0 },
    timeout: read_timeout_ms,
    ...(project_id === undefined ? (api_endpoint === undefined ? {} : { projectId: 'servo' }) : { projectId: project_id }),
  })
  // The client takes this from STORAGE_EMULATOR_HOST whatever it is told; a half-diverted store would be worse than none.
  storage.baseUrl = `${endpoint}/storage/v1`
  const time = createGcsTime(clock)
  const store = gcsStore({ bucket: storage.bucket(bucket_name), page_size, timeout_ms, read_timeout_ms, time })
  return prefix === undefined || prefix === '' ? store : scopedStore(store, `${prefix}/`)
}

type Gcs = {
  readonly bucket: Bucket
  readonly page_size: number
  readonly timeout_ms: number
  readonly read_timeout_ms: number
  readonly time: GcsTime
}

const gcsStore = (gcs: Gcs): ObjectStore => ({
  label: `gs://${gcs.bucket.name}`,
  page_is_snapshot: true,
  same_name_interval_ms: 1_000,
  now: gcs.time.now,
  put: (name, bytes, options) => putObject(gcs, name, bytes, options),
  get: (name) => getObject(gcs, name),
  head: (name) => headObject(gcs, name),
  list: (prefix, start_after) => listObjects(gcs, prefix, start_after),
  delete: (name, { if_generation }) => deleteObject(gcs, name, if_generation),
})

type ObjectResource = {
  readonly name: string
  readonly generation: string | number
  readonly timeCreated: string
  readonly size: string | number
  readonly crc32c: string
  readonly metadata?: Readonly<Record<string, string>>
}

async function putObject(gcs: Gcs, name: string, bytes: Uint8Array, { if_generation, meta }: PutOptions): Promise<PutAnswer> {
  const { bucket, timeout_ms, time } = gcs
  const file = bucket.file(name)
  const asked = time.ask()
  try {
    const headers = await upload(
      file,
      bytes,
      { if_generation, timeout_ms },
      {
        contentType: 'application/octet-stream',
        // The server compares and refuses a damaged body; the client would upload it, compare, and delete the object.
        crc32c: Buffer.from(crc32cHex(bytes), 'hex').toString('base64'),
        metadata: { ...meta },
      },
    )
    const resource = file.metadata as ObjectResource
    asked.answered(headers, if_generation === CREATE ? resource.timeCreated : undefined)
    return { kind: 'stored', head: headOf(resource), server_time: time.now(), late: false }
  } catch (error) {
    const { status, headers } = answerIn(error)
    asked.answered(headers)
    const server_time = time.now()
    if (status === 412) return { kind: 'precondition_failed', server_time }
    if (status === 403) return { kind: 'forbidden', server_time }
    if (status === 429) return { kind: 'throttled', server_time }
    throw failed(error, `${name} could not be written to`, bucket, OUTCOME_UNKNOWN)
  }
}

/** One multipart request: the precondition is evaluated at its end, with the whole body there. */
function upload(
  file: File,
  bytes: Uint8Array,
  { if_generation, timeout_ms }: { readonly if_generation: string; readonly timeout_ms: number },
  metadata: Record<string, unknown>,
): Promise<Headers> {
  return new Promise((resolve, reject) => {
    let headers: Headers = {}
    const stream = file.createWriteStream({
      resumable: false,
      validation: false,
      gzip: false,
      timeout: timeout_ms,
      preconditionOpts: { ifGenerationMatch: if_generation as unknown as number },
      metadata,
    })
    stream.on('response', (response: { headers: Headers }) => {
      headers = response.headers
    })
    stream.on('error', reject)
    stream.on('finish', () => resolve(headers))
    stream.end(bytes)
  })
}

async function getObject(gcs: Gcs, name: string): Promise<GetAnswer> {
  for (let tries = 0; tries < READ_TRIES_MAX; tries++) {
    // The body's answer does not say when the object was created, and the resource's has no body.
    const [described, content] = await Promise.all([headObject(gcs, name), download(gcs, name)])
    const server_time = gcs.time.now()
    if (described.kind === 'absent' && content.bytes === undefined) return { kind: 'absent', server_time }
    if (described.kind === 'absent' || content.generation !== described.head.generation) continue
    if (content.bytes.length !== described.head.size) throw unavailable(`The body of ${name} broke off. Read it again.`)
    return { kind: 'found', head: described.head, bytes: content.bytes, server_time }
  }
  throw unavailable(`${name} was replaced faster than it could be read from gs://${gcs.bucket.name}. Try again.`)
}

type Download = { readonly bytes: Uint8Array; readonly generation: string }
type NoDownload = { readonly bytes?: undefined; readonly generation?: undefined }

async function download({ bucket, read_timeout_ms, time }: Gcs, name: string): Promise<Download | NoDownload> {
  let headers: Headers = {}
  const asked = time.ask()
  const stream = bucket.file(name).createReadStream({ validation: false, decompress: false })
  // A body that breaks off leaves the client's stream open for ever (7.22, measured): nothing comes, no error and no end.
  const stall = setTimeout(() => stream.destroy(unavailable(`The body of ${name} broke off. Read it again.`)), read_timeout_ms)
  stream.on('response', (response: { headers: Headers }) => {
    headers = response.headers
    // The body may take its time.
    asked.answered(headers)
  })
  try {
    const chunks: Uint8Array[] = []
    for await (const chunk of stream) {
      chunks.push(chunk as Uint8Array)
      stall.refresh()
    }
    const generation = headers['x-goog-generation']
    if (generation === undefined)
      throw corrupt(`gs://${bucket.name} answered ${name} without its generation: it is no storage server that Servo knows.`)
    return { bytes: Buffer.concat(chunks), generation }
  } catch (error) {
    const { status } = answerIn(error)
    if (status === 404) return {}
    throw failed(error, `${name} could not be read from`, bucket, READ_AGAIN)
  } finally {
    clearTimeout(stall)
  }
}

async function headObject({ bucket, time }: Gcs, name: string): Promise<HeadAnswer> {
  const asked = time.ask()
  try {
    const { body, headers } = await request<ObjectResource>(bucket, `/o/${encodeURIComponent(name)}`, { fields: HEAD_FIELDS })
    asked.answered(headers)
    return { kind: 'found', head: headOf(body), server_time: time.now() }
  } catch (error) {
    const { status, headers } = answerIn(error)
    asked.answered(headers)
    if (status === 404) return { kind: 'absent', server_time: time.now() }
    throw failed(error, `${name} could not be looked up in`, bucket, READ_AGAIN)
  }
}

async function listObjects({ bucket, page_size, time }: Gcs, prefix: string, start_after?: string): Promise<ListAnswer> {
  type Page = { readonly items?: readonly ObjectResource[]; readonly nextPageToken?: string }
  const query: Record<string, string | number> = { prefix, maxResults: page_size, fields: `items(${HEAD_FIELDS}),nextPageToken` }
  if (start_after !== undefined) query['startOffset'] = start_after
  try {
    for (;;) {
      const asked = time.ask()
      const { body, headers } = await request<Page>(bucket, '/o', query)
      asked.answered(headers)
      const server_time = asked.sentAt()
      // The offset names the first that is wanted, the port the last that is not.
      const objects = (body.items ?? []).filter(({ name }) => name !== start_after).map(headOf)
      const last = objects.at(-1)
      if (body.nextPageToken === undefined) return { objects, server_time }
      if (last !== undefined) return { objects, next: last.name, server_time }
      query['pageToken'] = body.nextPageToken
    }
  } catch (error) {
    throw failed(error, `The names from ${prefix} on could not be listed in`, bucket, READ_AGAIN)
  }
}

async function deleteObject({ bucket }: Gcs, name: string, if_generation: string): Promise<DeleteAnswer> {
  try {
    await bucket.file(name).delete({ ifGenerationMatch: if_generation as unknown as number })
    return { kind: 'deleted' }
  } catch (error) {
    const { status } = answerIn(error)
    if (status === 404) return { kind: 'absent' }
    if (status === 412) return { kind: 'precondition_failed' }
    if (status === 403) return { kind: 'forbidden' }
    if (status === 429) return { kind: 'throttled' }
    throw failed(error, `${name} could not be deleted from`, bucket, OUTCOME_UNKNOWN)
  }
}

/** What `getMetadata` and `getFiles` do, with the answer's headers, which `getFiles` keeps to itself. */
function request<Body>(bucket: Bucket, uri: string, query: Record<string, string | number>): Promise<{ body: Body; headers: Headers }> {
  return new Promise((resolve, reject) => {
    bucket.request({ uri, qs: query }, (error: Error | null, body?: unknown, response?: unknown) => {
      if (error !== null) reject(error)
      else resolve({ body: body as Body, headers: (response as { headers: Headers }).headers })
    })
  })
}

const headOf = (resource: ObjectResource): ObjectHead => ({
  name: resource.name,
  generation: String(resource.generation),
  creation_time: new Date(resource.timeCreated).toISOString(),
  size: Number(resource.size),
  crc32c: Buffer.from(resource.crc32c, 'base64').toString('hex'),
  meta: resource.metadata ?? {},
})

/** The status and the headers of the server's answer, where it gave one. */
function answerIn(error: unknown): { readonly status: number | undefined; readonly headers: Headers | undefined } {
  const { code, response } = error as { code?: unknown; response?: { headers?: Headers } }
  return { status: typeof code === 'number' ? code : undefined, headers: response?.headers }
}

const OUTCOME_UNKNOWN = 'The outcome is unknown; look, then try again.'
/** A read that failed has changed nothing. */
const READ_AGAIN = 'Try again.'

function failed(error: unknown, what: string, { name }: Bucket, advice: string): Error {
  if (isOperatingError(error)) return error
  const { status } = answerIn(error)
  const says = messageOf(error)
  if (status === 404) return missing(`${what} gs://${name}, because there is no such bucket. Create it, or correct the name.`, error)
  if (status === 401 || status === 403) {
    return unavailable(
      `${what} gs://${name}, because these credentials may not: ${says}. Give them the role of the process (docs/operating.md).`,
      error,
    )
  }
  return unavailable(`${what} gs://${name}: ${status === undefined ? 'no answer' : `status ${status}`}, ${says}. ${advice}`, error)
}
