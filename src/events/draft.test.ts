import { expect, test } from '@jest/globals'
import { createSpeaker } from '../../test/fixtures/say.js'
import { traceparentNumber } from '../../test/fixtures/told-spans.js'
import { keysSha256 } from '../core/keys.js'
import { type Draft, type Stamp, stampDrafts } from './draft.js'
import { parseEvent } from './event.js'

const scope = { tenant_id: 'acme', workspace_id: 'prod' }
const stamp: Stamp = { ...scope, now: 0, random: (count) => new Uint8Array(count), source: 'servo/api' }
const traceparent = traceparentNumber(1, 2)
const say = createSpeaker()
const draft = ({ event_type, idempotency_key, payload }: ReturnType<typeof say.runRequested | typeof say.runCancelRequested>): Draft =>
  ({ event_type, idempotency_key, payload }) as Draft
const run = (key: string) => draft(say.runRequested(`user:${key}`))
const cancel = (run_id: string) => draft(say.runCancelRequested(run_id))

test('a traced batch says so once, and in each request for a run, which hands it on', () => {
  const events = stampDrafts([cancel('run_a'), cancel('run_b'), run('c'), run('d')], { ...stamp, traceparent })
  expect(events.map((event) => event.traceparent)).toEqual([traceparent, undefined, traceparent, traceparent])
  expect(events.map((event) => parseEvent(event, scope).kind)).toEqual(['event', 'event', 'event', 'event'])
})

test('the name of a segment is the same, traced or not', () => {
  const [traced, untraced] = [stampDrafts([run('a')], { ...stamp, traceparent }), stampDrafts([run('a')], stamp)]
  expect('traceparent' in (untraced[0] as object)).toBe(false)
  expect(keysSha256(scope, traced)).toBe(keysSha256(scope, untraced))
})
