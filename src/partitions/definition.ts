// What a user may define, read once: bounds are instants afterwards and formats compiled. What this version does not know
// is said in plain words and never guessed at, because keys that rows are sorted by must not change their meaning.

import { z } from 'zod'
import { utf8Bytes } from '../core/canonical.js'
import { isDimensionKey, isName } from '../core/ids.js'
import { DIMENSIONS_MAX, PARTITION_KEY_BYTES_MAX } from '../core/limits.js'
import { compareText } from '../core/order.js'
import { partitionKeyProblem } from '../core/partition-key.js'
import { suggestion } from '../core/spelling.js'
import { fieldRefusal, schemaRefusal } from './field-refusal.js'
import { isRefusal, type PartitionType, type Refusal } from './key-order.js'
import { readTimeDefinition, TIME_SCHEMAS, type TimeDefinition } from './time-definition.js'

type StaticDefinition = { readonly type: 'static'; readonly keys: readonly string[] }
/** Its keys are added and removed while Servo runs; the definition says which ones are meant. */
type DynamicDefinition = { readonly type: 'dynamic'; readonly name: string }
type SingleDefinition = TimeDefinition | StaticDefinition | DynamicDefinition
/** In the order of their names. */
type Dimension = { readonly name: string; readonly definition: SingleDefinition }
type MultiDefinition = { readonly type: 'multi'; readonly dimensions: readonly Dimension[] }

export type PartitionDefinition = SingleDefinition | MultiDefinition

const STATIC = z.strictObject({
  type: z.literal('static'),
  keys: z.array(z.string({ error: 'must be text, such as "europe"' }), { error: 'must be a list of keys' }).min(1, {
    error: 'must have at least one key',
  }),
})

const DYNAMIC = z.strictObject({
  type: z.literal('dynamic'),
  name: z.string({ error: NAME_RULE() }).refine(isName, { error: NAME_RULE() }),
})

const MULTI = z.strictObject({
  type: z.literal('multi'),
  dimensions: z.record(z.string(), z.unknown(), { error: 'must be an object with a definition for each name' }),
})

function NAME_RULE(): string {
  return 'must be a name of 1 to 100 letters, digits, _ . and -, such as "customers"'
}

/** What each type may have, for suggestions where somebody wrote another word. */
const MEMBERS: { readonly [Type in PartitionType]: readonly string[] } = {
  hourly: Object.keys(TIME_SCHEMAS.hourly.shape),
  daily: Object.keys(TIME_SCHEMAS.daily.shape),
  weekly: Object.keys(TIME_SCHEMAS.weekly.shape),
  monthly: Object.keys(TIME_SCHEMAS.monthly.shape),
  cron: Object.keys(TIME_SCHEMAS.cron.shape),
  static: Object.keys(STATIC.shape),
  dynamic: Object.keys(DYNAMIC.shape),
  multi: Object.keys(MULTI.shape),
}

const PARTITION_TYPES = Object.keys(MEMBERS) as readonly PartitionType[]

export function parseDefinition(definition: unknown): PartitionDefinition | Refusal {
  const type = typeof definition === 'object' && definition !== null && 'type' in definition ? definition.type : undefined
  const known = `${PARTITION_TYPES.slice(0, -1).join(', ')} and ${PARTITION_TYPES.at(-1)}`
  if (typeof type !== 'string') return { problem: `The partitions have no type. Give "type" one of these: ${known}.` }
  if (Object.hasOwn(TIME_SCHEMAS, type)) {
    const parsed = TIME_SCHEMAS[type as TimeDefinition['type']].safeParse(definition)
    return parsed.success ? readTimeDefinition(parsed.data) : schemaRefusal(parsed.error, MEMBERS[type as TimeDefinition['type']])
  }
  if (type === 'static') {
    const parsed = STATIC.safeParse(definition)
    return parsed.success ? readStatic(parsed.data) : schemaRefusal(parsed.error, MEMBERS.static)
  }
  if (type === 'dynamic') {
    const parsed = DYNAMIC.safeParse(definition)
    return parsed.success ? parsed.data : schemaRefusal(parsed.error, MEMBERS.dynamic)
  }
  if (type === 'multi') {
    const parsed = MULTI.safeParse(definition)
    return parsed.success ? readMulti(parsed.data.dimensions) : schemaRefusal(parsed.error, MEMBERS.multi)
  }
  return {
    problem: `Partitions of type "${type}" are not known to this version of Servo, which knows ${known}. Use one of them, or a later version.${suggestion(type, PARTITION_TYPES)}`,
  }
}

/** As `parseDefinition`, of an asset: what this version cannot keep the keys of is refused. */
export function parseDeployable(definition: unknown): PartitionDefinition | Refusal {
  const parsed = parseDefinition(definition)
  if (isRefusal(parsed)) return parsed
  const all = parsed.type === 'multi' ? parsed.dimensions.map((each) => each.definition) : [parsed]
  if (all.every(({ type }) => type !== 'dynamic')) return parsed
  return {
    problem: 'Partitions of type "dynamic" cannot be deployed yet: this version of Servo has no place for their keys. Use another type.',
  }
}

function readStatic({ keys }: z.infer<typeof STATIC>): StaticDefinition | Refusal {
  const seen = new Set<string>()
  for (const [i, key] of keys.entries()) {
    const problem = seen.has(key) ? 'is there twice: name each key once' : partitionKeyProblem(key)
    if (problem !== null) return fieldRefusal(`keys[${i}]`, `${JSON.stringify(key)} ${problem}`)
    seen.add(key)
  }
  return { type: 'static', keys }
}

function readMulti(given: Readonly<Record<string, unknown>>): MultiDefinition | Refusal {
  const names = Object.keys(given).sort(compareText)
  if (names.length === 0 || names.length > DIMENSIONS_MAX) {
    return fieldRefusal('dimensions', `has ${names.length} names: give it 1 to ${DIMENSIONS_MAX}`)
  }
  const dimensions: Dimension[] = []
  for (const name of names) {
    const field = `dimensions.${name}`
    if (!isName(name)) return fieldRefusal(field, NAME_RULE())
    const definition = parseDefinition(given[name])
    if (isRefusal(definition)) return { problem: `The dimension ${JSON.stringify(name)} is wrong: ${definition.problem}` }
    if (definition.type === 'multi') return fieldRefusal(field, 'has dimensions of its own: name them here, beside the others')
    const sign = keysWithin(definition).find((key) => !isDimensionKey(key))
    if (sign !== undefined) {
      return fieldRefusal(field, `has the key ${JSON.stringify(sign)}: in a dimension a key has none of the characters | , [ ] =`)
    }
    dimensions.push({ name, definition })
  }
  const size = dimensions.reduce((product, { definition }) => product * sizeBound(definition), 1)
  if (size > Number.MAX_SAFE_INTEGER) return fieldRefusal('dimensions', 'have more keys together than can be counted: make them fewer')
  const longest = dimensions.map(({ name, definition }) => name.length + 2 + Math.max(0, ...keysWithin(definition).map(utf8Bytes)))
  const bytes = longest.reduce((sum, each) => sum + each, -1)
  if (bytes <= PARTITION_KEY_BYTES_MAX) return { type: 'multi', dimensions }
  return fieldRefusal('dimensions', `make keys of ${bytes} bytes, and ${PARTITION_KEY_BYTES_MAX} is the most: shorten names or keys`)
}

/** From 1900 to 2200. */
const DAYS_MAX = 110_000
/** More than anybody adds. */
const DYNAMIC_KEYS_MAX = 1_000_000

function sizeBound(definition: SingleDefinition): number {
  if (definition.type === 'dynamic') return DYNAMIC_KEYS_MAX
  if (definition.type === 'static') return definition.keys.length
  const { hours, minutes, seconds } = definition.cron
  return hours.length * minutes.length * seconds.length * DAYS_MAX
}

/** All its keys, or one that stands for all of them: keys of one format are as long, and have the same signs. */
function keysWithin(definition: SingleDefinition): readonly string[] {
  if (definition.type === 'dynamic') return []
  if (definition.type === 'static') return definition.keys
  return [definition.format.write(definition.start_ms, 0)]
}
