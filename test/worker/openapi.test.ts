// The OpenAPI document and the page about the protocol say what the contract and the golden stories say.

import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import {
  cancelRequest,
  cancelResponse,
  completedRequest,
  completedResponse,
  dispatchRequest,
  dispatchResponse,
  heartbeatRequest,
  heartbeatResponse,
  logsRequest,
  logsResponse,
  startedRequest,
  startedResponse,
} from '../../src/api/contract/worker.js'
import { workerOpenApi } from '../../src/api/contract/worker-openapi.js'
import { schemaFault } from './json-schema.js'
import { readStory, STORY_NAMES } from './stories.js'

const DOCUMENT = new URL('../../docs/worker-openapi.json', import.meta.url)
const PAGE = new URL('../../docs/worker-protocol.md', import.meta.url)
const isUpdating = process.env['UPDATE_GOLDEN'] === '1'
const HOW = 'Rewrite it with: UPDATE_GOLDEN=1 NODE_OPTIONS=--experimental-vm-modules npx jest test/worker/openapi.test.ts'

const SCHEMAS = {
  DispatchRequest: dispatchRequest,
  DispatchResponse: dispatchResponse,
  CancelRequest: cancelRequest,
  CancelResponse: cancelResponse,
  StartedRequest: startedRequest,
  StartedResponse: startedResponse,
  HeartbeatRequest: heartbeatRequest,
  HeartbeatResponse: heartbeatResponse,
  LogsRequest: logsRequest,
  LogsResponse: logsResponse,
  CompletedRequest: completedRequest,
  CompletedResponse: completedResponse,
}
type SchemaName = keyof typeof SCHEMAS

const document = workerOpenApi()
const asJson = JSON.parse(JSON.stringify(document)) as unknown

function valueAt(pointer: string): unknown {
  let value: unknown = asJson
  for (const step of pointer.split('/').slice(1)) value = (value as Readonly<Record<string, unknown>> | undefined)?.[step]
  return value
}

const problemOf = (name: string, value: unknown): string => schemaFault(valueAt, { $ref: `#/components/schemas/${name}` }, value) ?? ''
const validates = (name: string, value: unknown): boolean => problemOf(name, value) === ''

const referencesIn = (value: unknown): readonly string[] => {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => (name === '$ref' ? [String(member)] : referencesIn(member)))
}

const nameOf = (path: string, kind: 'Request' | 'Response') => `${path.charAt(0).toUpperCase()}${path.slice(1)}${kind}` as SchemaName

/** Every body of every story, by the schema that it has to be. */
const bodies = STORY_NAMES.flatMap((storyName) => {
  const { request, response, callbacks, drain, cancel } = readStory(storyName)
  return [
    { at: `${storyName}.request`, schema: 'DispatchRequest' as const, value: request as object },
    { at: `${storyName}.response`, schema: 'DispatchResponse' as const, value: response as object },
    ...(drain === undefined
      ? []
      : [
          { at: `${storyName}.drain.request`, schema: 'DispatchRequest' as const, value: drain.request as object },
          { at: `${storyName}.drain.response`, schema: 'DispatchResponse' as const, value: drain.response as object },
        ]),
    ...(cancel === undefined
      ? []
      : [
          { at: `${storyName}.cancel.request`, schema: 'CancelRequest' as const, value: cancel.request as object },
          { at: `${storyName}.cancel.response`, schema: 'CancelResponse' as const, value: cancel.response as object },
        ]),
    ...callbacks.flatMap(({ path, body, answer, status }, i) => [
      { at: `${storyName}.callbacks[${i}].body`, schema: nameOf(path, 'Request'), value: body },
      ...(answer === undefined || status !== 200
        ? []
        : [{ at: `${storyName}.callbacks[${i}].answer`, schema: nameOf(path, 'Response'), value: answer }]),
    ]),
  ]
})

describe('the OpenAPI document', () => {
  test('is the one that is checked in', () => {
    const text = `${JSON.stringify(document, undefined, 2)}\n`
    if (isUpdating) writeFileSync(DOCUMENT, text)
    const isSame = readFileSync(DOCUMENT, 'utf8') === text
    expect(isSame ? '' : `docs/worker-openapi.json is not what the schemas say. ${HOW}`).toBe('')
  })

  test('refers to nothing that it does not have', () => {
    const references = referencesIn(asJson)
    expect(references.length).toBeGreaterThan(20)
    expect(references.filter((reference) => !reference.startsWith('#/') || valueAt(reference.slice(1)) === undefined)).toEqual([])
  })

  test('has every schema of the contract', () => {
    expect(Object.keys(SCHEMAS).filter((name) => valueAt(`/components/schemas/${name}`) === undefined)).toEqual([])
  })

  test.each(bodies)('takes $at', ({ schema, value }) => {
    expect(problemOf(schema, value)).toBe('')
    expect(SCHEMAS[schema].safeParse(value)).toMatchObject({ success: true })
  })

  test('refuses what the contract refuses', () => {
    const missing = bodies.flatMap(({ schema, value }) =>
      Object.keys(value).map((name) => ({ schema, value: Object.fromEntries(Object.entries(value).filter(([other]) => other !== name)) })),
    )
    const wrong = bodies.flatMap(({ schema, value }) => Object.keys(value).map((name) => ({ schema, value: { ...value, [name]: [{}] } })))
    const all = [...missing, ...wrong]
    const refused = all.filter(({ schema, value }) => !SCHEMAS[schema].safeParse(value).success)
    expect(refused.length).toBeGreaterThan(50)
    expect(all.filter(({ schema, value }) => validates(schema, value) !== SCHEMAS[schema].safeParse(value).success)).toEqual([])
  })
})

describe('the page about the protocol', () => {
  const EXAMPLE = /<!-- golden: (\S+) -->\n```json\n([^]*?)\n```/g
  const page = readFileSync(PAGE, 'utf8')
  const golden = new Map(bodies.map((body) => [body.at, body]))

  test('has the golden examples, word for word', () => {
    const next = page.replaceAll(EXAMPLE, (whole, at: string) => {
      const found = golden.get(at)
      return found === undefined ? whole : `<!-- golden: ${at} -->\n\`\`\`json\n${JSON.stringify(found.value, undefined, 2)}\n\`\`\``
    })
    if (isUpdating) writeFileSync(PAGE, next)
    expect(isUpdating || next === page ? '' : `docs/worker-protocol.md shows other examples than the golden ones. ${HOW}`).toBe('')
  })

  test('has no example that is of no story, or that is shown without its name', () => {
    const examples = [...page.matchAll(EXAMPLE)]
    expect(examples.length).toBeGreaterThanOrEqual(8)
    expect(examples.map(([, at]) => at).filter((at) => !golden.has(at as string))).toEqual([])
    expect(page.split('```json').length - 1).toBe(examples.length)
  })

  test('shows an example of every request', () => {
    const shown = new Set([...page.matchAll(EXAMPLE)].map(([, at]) => golden.get(at as string)?.schema))
    expect(Object.keys(SCHEMAS).filter((name) => !shown.has(name as SchemaName))).toEqual([])
  })
})
