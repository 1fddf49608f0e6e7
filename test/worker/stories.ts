// The golden stories of the worker protocol: a dispatch, what the worker answers, and its callbacks, each with what the
// API answers to it. Ids, instants and stacks are of no story: they are masked by values that the contract takes.

import { readdirSync, readFileSync } from 'node:fs'
import type { CancelRequest, CancelResponse, DispatchRequest } from '../../src/api/contract/worker.js'
import type { Callback, CallbackPath, Reply } from '../fixtures/callback-receiver.js'

export type Said = { readonly path: CallbackPath; readonly body: object; readonly status: number; readonly answer?: object }

export type Story = {
  readonly title: string
  readonly request: DispatchRequest
  readonly response: { readonly answers: readonly { readonly answer: string; readonly error?: { readonly code: string } }[] }
  readonly callbacks: readonly Said[]
  /** The worker is told to stop attempts after the first heartbeat. A worker need not have a path for it. */
  readonly cancel?: { readonly request: CancelRequest; readonly response: CancelResponse }
  /** The worker is told to end after the first heartbeat, and is handed this one more. */
  readonly drain?: { readonly grace_ms: number } & Pick<Story, 'request' | 'response'>
}

const FOLDER = new URL('../golden/worker/', import.meta.url)

export const STORY_NAMES = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.replace('.json', ''))
  .sort()

export const readStory = (name: string): Story => JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')) as Story

/** The API's part of a story: each callback is answered as the story says, the same path in the order it has there. */
export function replyOf({ callbacks }: Story, path: CallbackPath, nth: number): Reply | undefined {
  const said = callbacks.filter((each) => each.path === path)[nth]
  if (said === undefined) return undefined
  return said.status === 0 ? 'lost' : { status: said.status, ...(said.answer === undefined ? {} : { body: said.answer }) }
}

const AT = '2025-01-15T10:00:05.000Z'
export const EXECUTION_ID = '01JHKZ8M2C0000000000000EXE'
const MASKS: Readonly<Record<string, unknown>> = {
  at: AT,
  worker_started_at: AT,
  worker_finished_at: AT,
  worker_id: 'worker-1',
  materialization_id: '01JHKZ8M2C0000000000000MAT',
  stack: 'Error: where it was thrown',
}

/** Callbacks as a story has them: of the heartbeats the first alone, because their number is a matter of time. */
export function masked(callbacks: readonly Callback[]): readonly Omit<Said, 'status' | 'answer'>[] {
  const executions = [...new Set(callbacks.map(({ body }) => body.execution_id))]
  const maskOf = (name: string, value: unknown): unknown => {
    if (name === 'execution_id') return `${EXECUTION_ID.slice(0, -1)}${'EFGHJ'[executions.indexOf(value as string)]}`
    if (name === 'metadata') return value
    if (name in MASKS) return MASKS[name]
    if (Array.isArray(value)) return value.map((each) => maskOf('', each))
    return typeof value === 'object' && value !== null ? maskMembers(value) : value
  }
  // Nobody has to say how long it had a slot.
  const isOfStory = ([name]: readonly [string, unknown]): boolean => name !== 'slot_ms'
  const maskMembers = (body: object): object =>
    Object.fromEntries(
      Object.entries(body)
        .filter(isOfStory)
        .map(([name, value]) => [name, maskOf(name, value)]),
    )
  const beats = callbacks.filter(({ path }) => path === 'heartbeat')
  return callbacks
    .filter((callback) => callback.path !== 'heartbeat' || callback === beats[0])
    .map(({ path, body }) => ({ path, body: maskMembers(body) }))
}
