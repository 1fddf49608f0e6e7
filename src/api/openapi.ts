// The OpenAPI document of the API, from the routes of an app that serves nobody. Loaded when somebody asks for the document:
// most processes are never asked, and what makes it takes a tenth of the time that the API takes to start.

import swagger from '@fastify/swagger'
import fastify from 'fastify'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { type ApiTypes, BY_SCHEMA } from './http/compilers.js'
import type { Api, RouteDeps } from './http/deps.js'
import { addRoutes } from './routes.js'

export async function makeDocument(deps: RouteDeps): Promise<object> {
  const app = fastify({ schemaController: BY_SCHEMA }).withTypeProvider<ApiTypes>() as Api
  await app.register(swagger, documentOf(deps))
  await addRoutes(app, deps)
  await app.ready()
  return app.swagger()
}

const documentOf = ({ version }: RouteDeps) => ({
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Servo',
      version,
      description:
        'Asset automation: deploys, runs, schedules, pools and what workers say. Every fault is a problem document (RFC 9457) that says what to do.',
    },
    components: {
      securitySchemes: {
        api_token: { type: 'http' as const, scheme: 'bearer', description: 'The token that this server was started with, if any.' },
        task_token: { type: 'http' as const, scheme: 'bearer', description: 'task_token of the dispatch: it opens one attempt.' },
      },
    },
    security: [{ api_token: [] }],
  },
  transform: jsonSchemaTransform,
  transformObject: jsonSchemaTransformObject,
})
