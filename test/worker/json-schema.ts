// As much of JSON Schema as the worker protocol's document uses. A keyword that it does not know is an error, so that
// nothing passes unseen.

type Schema = Readonly<Record<string, unknown>>
type Check = (
  operand: never,
  value: unknown,
  look: (schema: Schema, value: unknown, at: string) => string | undefined,
  schema: Schema,
) => string | undefined

const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value)

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isObject,
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
}

const first = (faults: Iterable<string | undefined>): string | undefined => [...faults].find((fault) => fault !== undefined)
const unless = (isRight: boolean, fault: string) => (isRight ? undefined : fault)

/** Each looks only at values of its own type, as JSON Schema has it. */
const CHECKS: Readonly<Record<string, Check>> = {
  type: (names: string | readonly string[], value) =>
    unless(
      [names].flat().some((name) => TYPES[name]?.(value) === true),
      `is no ${[names].flat().join(' or ')}`,
    ),
  const: (expected: unknown, value) => unless(value === expected, `is not ${String(expected)}`),
  enum: (all: readonly unknown[], value) => unless(all.includes(value), `is none of ${all.join(', ')}`),
  pattern: (pattern: string, value) =>
    unless(typeof value !== 'string' || new RegExp(pattern, 'u').test(value), `does not match ${pattern}`),
  minLength: (count: number, value) => unless(typeof value !== 'string' || value.length >= count, `is shorter than ${count}`),
  maxLength: (count: number, value) => unless(typeof value !== 'string' || value.length <= count, `is longer than ${count}`),
  minimum: (least: number, value) => unless(typeof value !== 'number' || value >= least, `is below ${least}`),
  maximum: (most: number, value) => unless(typeof value !== 'number' || value <= most, `is above ${most}`),
  minItems: (count: number, value) => unless(!Array.isArray(value) || value.length >= count, `has fewer than ${count}`),
  maxItems: (count: number, value) => unless(!Array.isArray(value) || value.length <= count, `has more than ${count}`),
  required: (names: readonly string[], value) => first(names.map((name) => unless(!isObject(value) || name in value, `lacks ${name}`))),
  properties: (members: Readonly<Record<string, Schema>>, value, look) =>
    first(
      Object.entries(members).map(([name, schema]) =>
        isObject(value) && name in value ? look(schema, value[name], `.${name}`) : undefined,
      ),
    ),
  additionalProperties: (rest: Schema, value, look, { properties }) =>
    first(
      Object.entries(isObject(value) ? value : {}).map(([name, each]) =>
        name in ((properties ?? {}) as Schema) ? undefined : look(rest, each, `.${name}`),
      ),
    ),
  propertyNames: (schema: Schema, value, look) =>
    first(Object.keys(isObject(value) ? value : {}).map((name) => look(schema, name, `.${name}`))),
  items: (schema: Schema, value, look) => first((Array.isArray(value) ? value : []).map((each, i) => look(schema, each, `[${i}]`))),
  anyOf: (all: readonly Schema[], value, look) => {
    const faults = all.map((schema) => look(schema, value, ''))
    return faults.includes(undefined) ? undefined : faults.join('; or ')
  },
  allOf: (all: readonly Schema[], value, look) => first(all.map((schema) => look(schema, value, ''))),
  if: (condition: Schema, value, look, { then }) =>
    look(condition, value, '') === undefined ? look(then as Schema, value, '') : undefined,
}
const SILENT = ['description', 'then', '$ref']

/** What is wrong with the value; `resolve` finds what a pointer such as `/components/schemas/Dispatch` leads to. */
export function schemaFault(resolve: (pointer: string) => unknown, schema: Schema, value: unknown, at = ''): string | undefined {
  const look = (inner: Schema, each: unknown, step: string) => schemaFault(resolve, inner, each, `${at}${step}`)
  const reference = schema['$ref']
  if (typeof reference === 'string') {
    const target = resolve(reference.replace('#', ''))
    if (!isObject(target)) throw new Error(`${reference} leads nowhere.`)
    return look(target, value, '')
  }
  for (const [keyword, operand] of Object.entries(schema)) {
    if (SILENT.includes(keyword)) continue
    const check = CHECKS[keyword]
    if (check === undefined) throw new Error(`The keyword ${keyword} at ${at} is not known here.`)
    const fault = check(operand as never, value, look, schema)
    if (fault !== undefined) return fault.startsWith('.') || fault.startsWith('[') ? fault : `${at} ${fault}`
  }
  return undefined
}
