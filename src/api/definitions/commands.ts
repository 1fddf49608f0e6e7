// The commands of every noun that is defined: made, replaced, changed, removed, paused, resumed. Each appends by itself; the next turn
// folds it.

import { z } from 'zod'
import { type Claim, type Claimed, type Plan, submitClaimed } from '../../commands/claims.js'
import { removedProblem } from '../../commands/definitions/blocked.js'
import { type Change, type Planned, planChange, planCreate, planRemove } from '../../commands/definitions/define.js'
import type { StatusRequest } from '../../commands/definitions/drafts.js'
import type { Definition, Entity, Noun } from '../../commands/definitions/noun.js'
import { planStatus } from '../../commands/definitions/status.js'
import { unfoldable } from '../../commands/foldable.js'
import { isProblem, type Problem } from '../../commands/problem.js'
import { definitionIn, patchedDefinition } from '../../events/fields.js'
import type { View } from '../../readers/reader.js'
import type { CommandedBody, DefinitionBodies } from '../contract/definition.js'
import { idempotencyHeader, waitQuery } from '../contract/page.js'
import { claimOf, requestOf, waited } from '../http/claimed.js'
import type { Api, RouteDeps } from '../http/deps.js'
import { planned } from '../http/views.js'
import { orRefuse, problems } from '../problems.js'

const commandQuery = z.strictObject(waitQuery)

export type DefinitionRoutes = {
  readonly noun: Noun
  /** In ids of operations, such as "Schedule". */
  readonly label: string
  readonly tags: readonly string[]
  readonly bodies: DefinitionBodies
  /** What the documentation says of each command. */
  readonly about: Readonly<Record<'create' | 'change' | 'remove' | 'pause' | 'resume', string>>
}

type Body = CommandedBody & Readonly<Record<string, unknown>>

/** Of a request that was checked against the noun's schemas. */
type Checked = {
  readonly body: Body
  readonly params: Readonly<Record<string, string>>
  readonly query: z.output<typeof commandQuery>
  readonly headers: z.output<typeof idempotencyHeader>
}

type Command = {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Behind the path of the noun, or of one of it. */
  readonly verb?: string
  readonly operation: string
  readonly summary: string
  readonly about: string
  readonly body: z.ZodType
  /** What is planned about the one that is named in the path. */
  readonly plan: (asked: CommandInput) => Promise<Planned | Problem> | Planned | Problem
}

type CommandInput = {
  readonly view: View | undefined
  readonly entity: Entity
  readonly body: Body
  readonly requested: { readonly request_id: string; readonly now: number }
}

export function addDefinitionCommands(app: Api, deps: RouteDeps, routes: DefinitionRoutes): void {
  addCreation(app, deps, routes)
  for (const command of commandsOf(routes)) addCommand(app, deps, routes, command)
}

function addCreation(app: Api, deps: RouteDeps, { noun, label, tags, bodies, about }: DefinitionRoutes): void {
  const { plural, word, name_member } = noun
  app.route({
    method: 'POST',
    url: `/${plural}`,
    schema: {
      tags,
      headers: idempotencyHeader,
      querystring: commandQuery,
      operationId: `create${label}`,
      summary: `Make a ${word}`,
      description: about.create,
      body: bodies.create,
      response: { 202: bodies.accepted, ...problems(409, 422) },
    },
    handler: async (request, reply) => {
      const { body, query, headers } = request as unknown as Checked
      const { requested_by, reason } = body
      const asked = { name: body[name_member] as string, requested_by, reason, definition: body as Definition }
      const claimed = await claimedCommand(deps, noun, claimOf({ headers }, `POST /${plural}`, body), requestOf(body), (view, request_id) =>
        planCreate(noun, view, asked, { request_id, now: deps.appender.now() }),
      )
      return reply.code(202).send(await waited(deps, claimed, query))
    },
  })
}

/** Of a replacement and a change only what becomes of the definition differs. */
function commandsOf({ noun, label, bodies, about }: DefinitionRoutes): readonly Command[] {
  const { word, fields, name_member } = noun
  const changeBy =
    (change: (body: Body) => Change['change']): Command['plan'] =>
    ({ view, entity, body, requested }) => {
      const { expected_definition_version, requested_by, reason } = body
      const name = body[name_member] as string | undefined
      return planChange(noun, view, entity, { name, expected_definition_version, requested_by, reason, change: change(body) }, requested)
    }
  const statusCommand = (verb: 'pause' | 'resume', to: StatusRequest['to']): Command => ({
    method: 'POST',
    verb,
    operation: `${verb}${label}`,
    summary: `${verb === 'pause' ? 'Pause' : 'Resume'} a ${word}`,
    about: about[verb],
    body: bodies.status,
    plan: ({ entity, body, requested }) => planStatus(noun, entity, { ...(body as Omit<StatusRequest, 'to'>), to }, requested.request_id),
  })
  return [
    {
      method: 'PUT',
      operation: `replace${label}`,
      summary: `Replace the definition of a ${word}`,
      about: about.change,
      body: bodies.replace,
      plan: changeBy((body) => () => definitionIn(fields, body)),
    },
    {
      method: 'PATCH',
      operation: `change${label}`,
      summary: `Change a ${word}, or its name`,
      about: about.change,
      body: bodies.patch,
      plan: changeBy((body) => (before) => patchedDefinition(fields, before, body)),
    },
    {
      method: 'DELETE',
      operation: `remove${label}`,
      summary: `Remove a ${word}`,
      about: about.remove,
      body: bodies.remove,
      plan: ({ entity, body, requested }) => planRemove(noun, entity, body, requested.request_id),
    },
    statusCommand('pause', 'PAUSED'),
    statusCommand('resume', 'ACTIVE'),
  ]
}

function addCommand(app: Api, deps: RouteDeps, { noun, tags, bodies }: DefinitionRoutes, command: Command): void {
  const { plural, word } = noun
  const behind = command.verb === undefined ? '' : `/${command.verb}`
  app.route({
    method: command.method,
    url: `/${plural}/:${word}${behind}`,
    schema: {
      tags,
      headers: idempotencyHeader,
      querystring: commandQuery,
      operationId: command.operation,
      summary: command.summary,
      description: command.about,
      params: bodies.params,
      body: command.body,
      response: { 202: bodies.accepted, ...problems(404, 409, 422) },
    },
    handler: async (request, reply) => {
      const { body, params, query, headers } = request as unknown as Checked
      const claim = claimOf({ headers }, `${command.method} /${plural}/{${word}}${behind}`, body)
      const claimed = await claimedCommand(deps, noun, claim, requestOf(body, params), async (view, request_id) => {
        const entity = await noun.find(view, params[word] as string)
        if (isProblem(entity)) return entity
        const requested = { request_id, now: deps.appender.now() }
        return removedProblem(noun, entity) ?? command.plan({ view, entity, body, requested })
      })
      return reply.code(202).send(await waited(deps, claimed, query))
    },
  })
}

/** Planned on the newest revision, claimed, appended. */
async function claimedCommand(
  deps: RouteDeps,
  { id_member, name_member }: Noun,
  claim: Claim | undefined,
  request: object,
  plan: (view: View | undefined, request_id: string) => Promise<Planned | Problem>,
): Promise<Claimed> {
  return orRefuse(
    await submitClaimed(deps, claim, request, async (request_id): Promise<Plan | Problem> => {
      const made = await planned(deps, async (view) => {
        const inView = await plan(view, request_id)
        return isProblem(inView) ? inView : (unfoldable(view, inView.drafts) ?? inView)
      })
      if (isProblem(made)) return made
      const { drafts, id, name, warnings } = made
      const about = { [id_member]: id, [name_member]: name, ...(warnings.length === 0 ? {} : { warnings }) }
      return {
        drafts,
        source: 'servo/api',
        answerOf: ([event]) => ({ status: 202, body: { ...about, accepted_event_id: event?.event_id ?? null } }),
      }
    }),
  )
}
