// How Fastify reads and writes by zod schemas: what a request has wrong is told in sentences, all of it at once.

import type { FastifySchemaCompiler, FastifyServerOptions, FastifyTypeProvider } from 'fastify'
import { serializerCompiler } from 'fastify-type-provider-zod'
import type { z } from 'zod'
import { type PathFault, pathFaultsOf, ruleOf } from '../../events/fault.js'
import type { Parsed } from '../../events/value.js'

/** What handlers are given is what a schema makes of the request; what they answer is never changed afterwards. */
export interface ApiTypes extends FastifyTypeProvider {
  readonly validator: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown
  readonly serializer: this['schema'] extends z.ZodType ? Parsed<this['schema']> : unknown
}

export class InputError extends Error {
  readonly faults: readonly PathFault[]

  constructor(faults: readonly PathFault[]) {
    super(faults.map(({ message }) => message).join(' '))
    this.name = 'InputError'
    this.faults = faults
  }
}

/** What a schema makes of a part that no route's schema describes, or an InputError. */
export function parsedBy<Schema extends z.ZodType>(schema: Schema, raw: unknown): z.output<Schema> {
  const parsed = schema.safeParse(raw, { error: ruleOf })
  if (!parsed.success) throw new InputError(pathFaultsOf(parsed.error, raw))
  return parsed.data
}

const NO_BODY: PathFault = { path: '', message: 'The request has no body. Send JSON, with content-type: application/json.' }

const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema, httpPart }) =>
  (data: unknown) => {
    // Fastify says null where there is no body.
    const raw = httpPart === 'body' && data === null ? undefined : data
    const parsed = schema.safeParse(raw, { error: ruleOf })
    if (parsed.success) return { value: parsed.data }
    if (raw === undefined) return { error: new InputError([NO_BODY]) }
    return { error: new InputError(pathFaultsOf(parsed.error, raw)) }
  }

/** Given to Fastify with its options, and not set afterwards: an app that is made without them has loaded its own already. */
export const BY_SCHEMA: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: { buildValidator: () => validatorCompiler as never, buildSerializer: () => serializerCompiler as never },
}
