// What every noun that is defined shows: a list by name, one by its id or name, and pages of what became of one, newest first.

import type { z } from 'zod'
import type { Problem } from '../../commands/problem.js'
import { compareText } from '../../core/order.js'
import type { Newest, Place } from '../../readers/newest.js'
import type { View } from '../../readers/reader.js'
import { readCursor, writeCursor } from '../http/cursor.js'
import type { Api, RouteDeps } from '../http/deps.js'
import { viewFor } from '../http/views.js'
import { orRefuse, problems } from '../problems.js'

type About = { readonly summary: string; readonly description?: string }

type NounReads<Found> = {
  /** In sentences and paths, and in ids of operations. */
  readonly word: string
  readonly plural: string
  readonly label: string
  readonly tags: readonly string[]
  readonly params: z.ZodObject
  /** By id or name. */
  readonly find: (view: View | undefined, id_or_name: string) => Promise<Found | Problem>
  readonly list: About & {
    readonly query: z.ZodObject
    readonly page: z.ZodObject
    /** All of them, by name and id. */
    readonly read: (view: View | undefined) => Promise<readonly Found[]>
    readonly filter: (view: View | undefined, query: never) => Promise<(found: Found) => boolean>
  }
  readonly show: About & { readonly query: z.ZodObject; readonly document: z.ZodType }
  readonly placeOf: (found: Found) => readonly [name: string, id: string]
  readonly documentOf: (found: Found, now: number) => object
}

type PageQuery = {
  readonly limit: number
  readonly cursor?: string | undefined
  readonly fresh?: boolean
  readonly min_sequence?: number
}

export function addNounReads<Found extends object>(app: Api, deps: RouteDeps, noun: NounReads<Found>): void {
  const { word, plural, label, tags, params, list, show, placeOf, documentOf } = noun
  app.route({
    method: 'GET',
    url: `/${plural}`,
    schema: { tags, operationId: `list${label}s`, ...aboutOf(list), querystring: list.query, response: { 200: list.page, ...problems() } },
    handler: async (request, reply) => {
      const { limit, cursor, ...filter } = request.query as PageQuery
      const after = readCursor(plural, cursor, 2)
      const view = await viewFor(deps, filter, reply)
      const fits = await list.filter(view, filter as never)
      const left = (await list.read(view)).filter((each) => fits(each) && (after === undefined || isAfter(placeOf(each), after)))
      const shown = left.slice(0, limit)
      const last = left.length > shown.length ? shown.at(-1) : undefined
      const now = deps.clock.now()
      return reply.code(200).send({
        [plural]: shown.map((each) => documentOf(each, now)),
        next_cursor: last === undefined ? null : writeCursor(plural, [...placeOf(last)]),
      })
    },
  })
  app.route({
    method: 'GET',
    url: `/${plural}/:${word}`,
    schema: {
      tags,
      operationId: `get${label}`,
      ...aboutOf(show),
      params,
      querystring: show.query,
      response: { 200: show.document, ...problems(404) },
    },
    handler: async (request, reply) => {
      const view = await viewFor(deps, request.query as PageQuery, reply)
      const found = orRefuse(await noun.find(view, (request.params as Readonly<Record<string, string>>)[word] as string))
      return reply.code(200).send(documentOf(found, deps.clock.now()))
    },
  })
}

const aboutOf = ({ summary, description }: About) => ({ summary, ...(description === undefined ? {} : { description }) })

const isAfter = ([name, id]: readonly [string, string], [after_name, after_id]: readonly (string | number)[]): boolean =>
  (compareText(name, String(after_name)) || compareText(id, String(after_id))) > 0

type History<Found, Row> = About & {
  /** Behind the path of one, and the member of a page. */
  readonly member: string
  readonly operation: string
  readonly query: z.ZodObject
  readonly page: z.ZodObject
  readonly read: (view: View | undefined, found: Found, filter: never, limit: number, after?: Place) => Promise<Newest<Row>>
  /** By time and id, as rows are ordered. */
  readonly placeOf: (row: Row) => readonly [at_ms: number, id: string]
  readonly documentsOf: (view: View | undefined, rows: readonly Row[], found: Found) => Promise<readonly object[]>
}

export function addNounHistory<Found extends object, Row>(
  app: Api,
  deps: RouteDeps,
  { word, plural, tags, params, find }: Pick<NounReads<Found>, 'word' | 'plural' | 'tags' | 'params' | 'find'>,
  history: History<Found, Row>,
): void {
  const { member, operation, query, page } = history
  app.route({
    method: 'GET',
    url: `/${plural}/:${word}/${member}`,
    schema: { tags, operationId: operation, ...aboutOf(history), params, querystring: query, response: { 200: page, ...problems(404) } },
    handler: async (request, reply) => {
      const { limit, cursor, ...filter } = request.query as PageQuery
      const after = readCursor(member, cursor, 2)
      const place = after === undefined ? undefined : { at_ms: Number(after[0]), id: String(after[1]) }
      const view = await viewFor(deps, filter, reply)
      const found = orRefuse(await find(view, (request.params as Readonly<Record<string, string>>)[word] as string))
      const { rows, more } = await history.read(view, found, filter as never, limit, place)
      const last = rows.at(-1)
      return reply.code(200).send({
        [member]: await history.documentsOf(view, rows, found),
        next_cursor: more && last !== undefined ? writeCursor(member, [...history.placeOf(last)]) : null,
      })
    },
  })
}
