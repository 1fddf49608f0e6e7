// Where an object of the local store lies: `{folder}/{buckets}/{component}.g{generation}`. What is named by time, number
// or digest goes into bucket folders, so that no folder grows with history and a listing opens the few that it needs.

import { assert } from '../core/errors.js'
import { sha256Hex } from '../core/hash.js'

export type ObjectPlace = {
  readonly name: string
  readonly folder: string
  /** The file's name without `.g{generation}`. */
  readonly file: string
  /** Begins the names of this object's temporary files and flags. */
  readonly mark: string
}

/** What the store keeps for itself, inside the folder: temporary files and the stamp clock. No object's path begins so. */
export const OWN_FOLDER = '.servo'

/** Bytes, the limit of every file system in use; ten are left for the generation. */
const FILE_NAME_BYTES_MAX = 245
/** GCS admits no longer name. */
const NAME_BYTES_MAX = 1024

const PLAIN_COMPONENT = /^[A-Za-z0-9_=-][A-Za-z0-9._=-]*$/
const GENERATION_ENDING = /\.(g\d+)$/
const GENERATION_FILE = /^(.*)\.g(\d{1,15})$/
const ULID_START = /^[0-7][0-9A-HJKMNP-TV-Z]{25}/
const DIGEST_START = /^[0-9a-f]{64}/
const LONE_SURROGATE = /\p{Cs}/u
const NUMBER_START = /^\d{1,20}(?=[-.]|$)/

/** The sentence to refuse a name with; a name of Servo's own never earns one. */
function nameFault(name: string): string | undefined {
  if (Buffer.byteLength(name) > NAME_BYTES_MAX) return `is longer than ${NAME_BYTES_MAX} bytes`
  if (LONE_SURROGATE.test(name)) return 'is not well-formed Unicode'
  for (const component of name.split('/')) {
    if (component === '') return 'has an empty part between two slashes, at its start or at its end'
    if (fileOf(component).length > FILE_NAME_BYTES_MAX) return `has a part that needs more than ${FILE_NAME_BYTES_MAX} bytes on disk`
  }
  return undefined
}

export function placeOf(root: string, name: string): ObjectPlace {
  const fault = nameFault(name)
  assert(fault === undefined, `The object name ${JSON.stringify(name.slice(0, 200))} ${fault}.`)
  const slash = name.lastIndexOf('/')
  const last = name.slice(slash + 1)
  return {
    name,
    folder: [folderOf(root, slash < 0 ? '' : name.slice(0, slash + 1)), ...bucketsOf(last)].join('/'),
    file: fileOf(last),
    mark: sha256Hex(name).slice(0, 24),
  }
}

/** The folder of everything whose name begins with these whole components, `''` or ending in a slash. */
export function folderOf(root: string, components: string): string {
  let folder = root
  for (const component of components.split('/').slice(0, -1)) {
    for (const bucket of bucketsOf(component)) folder += `/${bucket}`
    folder += `/${fileOf(component)}`
  }
  return folder
}

export const generationPath = (place: ObjectPlace, generation: number): string => `${place.folder}/${place.file}.g${generation}`

/** `undefined` for what is not a generation of an object: the folders. */
export function parseGenerationFile(entry: string): { readonly file: string; readonly generation: number } | undefined {
  const match = GENERATION_FILE.exec(entry)
  return match === null ? undefined : { file: match[1] as string, generation: Number(match[2]) }
}

/** One component of a name as a file's name: letters that a path or this layout gives a meaning to are percent-encoded. */
function fileOf(component: string): string {
  const plain = PLAIN_COMPONENT.test(component) ? component : encodeURIComponent(component).replace(/^\./, '%2E').replaceAll('~', '%7E')
  return plain.replace(GENERATION_ENDING, '%2E$1')
}

/** `undefined` for a file that somebody else put there. */
export function componentOf(file: string): string | undefined {
  if (!file.includes('%')) return file
  try {
    return decodeURIComponent(file)
  } catch {
    return undefined
  }
}

/** The bucket folders that a component lies in. Their names begin with `@`, which no encoded component contains.
 *  - A ULID: 397 days, 12 days, 9 h, 17 min, 33 s: at most 32 folders in each but the first, one of which comes a year.
 *  - A digest: 256 folders.
 *  - A number: by its count of digits, then by those in front of the last three, three to a folder. */
function bucketsOf(component: string): readonly string[] {
  if (ULID_START.test(component)) return [`@${component.slice(0, 3)}`, ...Array.from(component.slice(3, 7), (digit) => `@${digit}`)]
  if (DIGEST_START.test(component)) return [`@${component.slice(0, 2)}`]
  const digits = NUMBER_START.exec(component)?.[0]
  if (digits === undefined) return []
  const front = digits.slice(0, -3).match(/.{1,3}/g) ?? []
  return [`@${DIGIT_COUNT_MARK}${digits.length}`, ...front.map((part) => `@${part}`)]
}

const DIGIT_COUNT_MARK = 'digits-'

export const isBucket = (entry: string): boolean => entry.startsWith('@')

/** What the names inside a bucket have in common beyond those outside: a folder by count of digits has nothing. */
export const bucketStart = (bucket: string): string => (bucket.startsWith(`@${DIGIT_COUNT_MARK}`) ? '' : bucket.slice(1))
