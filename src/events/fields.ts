// The fields of a definition, one record a noun. The form in events, the bodies of requests and of deploys, and what a patch does
// follow from it; table columns, flags of the CLI and checks of the SDK are compared with it (test/tidy/definition-fields.test.ts).

import { z } from 'zod'
import { canonicalJson } from '../core/canonical.js'
import type { Parsed } from './value.js'

export type Field = {
  /** As events carry it. */
  readonly stored: z.ZodType
  /** What a request may write instead, where that is more than the stored form. Its output is the stored form. */
  readonly asked?: z.ZodType
  readonly description?: string
  /** Stored where a request leaves the field out. */
  readonly default?: unknown
  /** A definition may lack it, and a patch may take it away. */
  readonly is_optional?: true
  /** Of an optional field: the value that means the same as its absence. Rows have it then, and definitions never do. */
  readonly none?: unknown
  /** Only for something new: a patch does not have it. */
  readonly is_initial?: true
  /** Two ways to write one value have one stored form. */
  readonly normalize?: (value: never) => unknown
}

export type Fields = Readonly<Record<string, Field>>

type StoredShape<F extends Fields> = {
  [Name in keyof F]: F[Name] extends { is_optional: true } ? z.ZodExactOptional<F[Name]['stored']> : F[Name]['stored']
}
/** What a definition is, in events and commands. */
export type DefinitionOf<F extends Fields> = Parsed<z.ZodObject<StoredShape<F>>>

type AnyShape = Record<string, z.ZodType>

const shapeOf = (fields: Fields, schemaOf: (field: Field) => z.ZodType): AnyShape =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, schemaOf(field)]))

export const storedShape = <F extends Fields>(fields: F): StoredShape<F> =>
  shapeOf(fields, ({ stored, is_optional }) => (is_optional ? z.exactOptional(stored) : stored)) as StoredShape<F>

/** Of a whole definition: a request that creates or replaces, and a deploy. */
export const askedShape = (fields: Fields): AnyShape =>
  shapeOf(fields, (field) => {
    const schema = describedSchema(field)
    if (field.is_optional) return z.exactOptional(schema)
    return field.default === undefined ? schema : schema.default(field.default)
  })

/** What is left out of a patch stays, and null takes an optional field away. */
export const patchShape = (fields: Fields): AnyShape => {
  const patched = Object.fromEntries(Object.entries(fields).filter(([, { is_initial }]) => !is_initial))
  return shapeOf(patched, (field) => (field.is_optional ? describedSchema(field).nullable() : describedSchema(field)).optional())
}

function describedSchema({ stored, asked = stored, description }: Field): z.ZodType {
  return description === undefined ? asked : asked.meta({ description })
}

type Members = Readonly<Record<string, unknown>>

/** Of what a request or a row has, the definition alone, in its one form: equal definitions have one hash. The schemas above have
 *  checked the members. */
export function definitionIn<F extends Fields>(fields: F, members: Members): DefinitionOf<F> {
  const written = Object.entries(fields).flatMap(([name, field]) => {
    const value = members[name]
    if (value === undefined || value === null || isNone(field, value)) return []
    return [[name, (field.normalize as ((value: unknown) => unknown) | undefined)?.(value) ?? value]]
  })
  return Object.fromEntries(written) as DefinitionOf<F>
}

const isNone = ({ none }: Field, value: unknown): boolean =>
  none !== undefined && canonicalJson(none as never) === canonicalJson(value as never)

/** `patch` is of the shape above. */
export function patchedDefinition<F extends Fields>(fields: F, before: DefinitionOf<F>, patch: Members): DefinitionOf<F> {
  const given = Object.entries(patch).filter(([name, value]) => value !== undefined && Object.hasOwn(fields, name))
  return definitionIn(fields, { ...before, ...Object.fromEntries(given) })
}

type RowMembers<F extends Fields> = {
  readonly [Name in keyof F]:
    | Parsed<F[Name]['stored']>
    | (F[Name] extends { none: unknown } ? never : F[Name] extends { is_optional: true } ? null : never)
}

/** For rows that have a column a field: what a definition lacks is its `none`, or null. */
export const rowMembers = <F extends Fields>(fields: F, definition: DefinitionOf<F>): RowMembers<F> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { none = null }]) => [name, (definition as Members)[name] ?? none]),
  ) as RowMembers<F>

/** What a request that says only this comes to. */
export const withDefaults = <F extends Fields>(fields: F, members: Members): DefinitionOf<F> =>
  definitionIn(fields, { ...shapeOfDefaults(fields), ...members })

const shapeOfDefaults = (fields: Fields): Members =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.default]))
