// An API process: the real commands behind real tokens, with a view, a memory of executions and a clock of its own. Only HTTP
// is not there: a request is a call, and its answer a status.

import type { FastifyRequest } from 'fastify'
import type { ApiDeps } from '../../../src/api/http/deps.js'
import { claimsOf } from '../../../src/api/http/principal.js'
import { orRefuse, RefusedError } from '../../../src/api/problems.js'
import { openAppender } from '../../../src/bin/appender.js'
import { sayAlive, sayCompleted, sayStarted } from '../../../src/commands/attempt.js'
import { isOperatingError } from '../../../src/core/errors.js'
import { SECOND_MS } from '../../../src/core/time.js'
import { createCurrent } from '../../../src/readers/current.js'
import { createReader } from '../../../src/readers/reader.js'
import { watched } from '../../fixtures/roles.js'
import type { Process } from '../../fixtures/world.js'
import { type Actor, noteBug } from '../actor.js'
import type { ApiDoor, Callback, CommandDeps, Reply } from './door.js'
import { poke, SECRETS, type Site } from './site.js'

/** An API and its restarts: it is to be reached once it has opened its store. */
export const createApi = (site: Site, name: string, options: Actor['options']): Actor => ({
  name,
  options,
  think_ms: () => 10 * SECOND_MS,
  begin(process) {
    void keepOpen(site, process)
    return async () => {
      if (site.weather.happens('process_ends')) process.kill()
    }
  },
})

async function keepOpen(site: Site, process: Process): Promise<void> {
  const { apis, world } = site
  try {
    const door = await openApi(site, process)
    await process.gone
    if (apis.get(process.name) === door) apis.delete(process.name)
  } catch (error) {
    if (!isOperatingError(error)) noteBug(world, process.name, error)
    // As whoever runs it does: it is started again.
    process.kill()
  }
}

/** From here on it is to be reached. */
export async function openApi(site: Site, process: Process): Promise<ApiDoor> {
  const { store, files, clock, random } = process
  const { scope } = site.world
  const appender = watched(site.world, process, await openAppender({ store, clock, random: random.bytes, scope }))
  const reader = createReader({ store, files })
  const deps: CommandDeps = {
    store,
    clock,
    random: random.bytes,
    scope,
    appender,
    poke: () => poke(site),
    executions: new Map(),
    start_logs: new Map(),
    current: createCurrent({ reader, clock }),
    secrets: SECRETS,
  }
  const request = { log: { warn: () => undefined } } as unknown as FastifyRequest
  const door: ApiDoor = {
    process,
    callback: (callback) =>
      replyOf(site, process, async () => {
        const { attempt_id, task_token } = callback
        const claims = claimsOf(deps as unknown as ApiDeps, request, attempt_id, task_token)
        return orRefuse(await take(deps, claims, callback))
      }),
    command: (command) => replyOf(site, process, async () => orRefuse(await command(deps))),
  }
  site.apis.set(process.name, door)
  return door
}

async function take(deps: CommandDeps, claims: ReturnType<typeof claimsOf>, { path, body }: Callback): Promise<object> {
  switch (path) {
    case 'started':
      return sayStarted(deps, claims, body as Parameters<typeof sayStarted>[2])
    case 'heartbeat':
      return sayAlive(deps, claims, body as Parameters<typeof sayAlive>[2])
    case 'completed':
      return sayCompleted(deps, claims, body as Parameters<typeof sayCompleted>[2])
  }
}

const STATUS = { 'attempt-over': 409, conflict: 409, 'run-key-conflict': 409, unauthorized: 401, 'not-ready': 503 } as const

async function replyOf({ world }: Site, process: Process, work: () => Promise<object>): Promise<Reply> {
  try {
    return { status: 200, body: (await work()) as Reply['body'] }
  } catch (error) {
    if (error instanceof RefusedError) {
      const { problem, detail } = error.refused
      return { status: STATUS[problem as keyof typeof STATUS] ?? 400, body: { problem, detail } }
    }
    if (!isOperatingError(error)) noteBug(world, process.name, error)
    return { status: 503, body: { detail: String(error) } }
  }
}
