import { expect, test } from '@jest/globals'
import { createToldSpans, traceparentNumber } from '../../test/fixtures/told-spans.js'
import { readStory } from '../../test/worker/stories.js'
import type { Dispatch } from '../api/contract/worker.js'
import type { View } from '../readers/reader.js'
import { traceDispatches } from './trace.js'

const REQUEST = traceparentNumber(3, 4)
const template = readStory('success').request.dispatches[0] as Dispatch
const dispatches = ['traced', 'untraced'].map((run_id): Dispatch => ({ ...template, run_id }))
const asked: unknown[] = []
const rows: Pick<View, 'rows'>['rows'] = async (table, keys) => {
  asked.push([table, keys])
  return [
    { run_id: 'traced', traceparent: REQUEST },
    { run_id: 'untraced', traceparent: null },
  ] as never
}
const view = { rows } as View

test('what is sent for the first time has a span below the request, and its worker goes on from there', async () => {
  const tracing = createToldSpans()
  const traced = await traceDispatches(tracing, view, dispatches, 'first')
  const [span, ...others] = tracing.spans
  expect([span?.name, span?.parent, others]).toEqual(['dispatch', REQUEST, []])
  expect(traced.dispatches).toEqual([{ ...dispatches[0], traceparent: span?.traceparent }, dispatches[1]])
  expect(span?.has_ended).toBe(false)
  traced.answered([{ answer: 'BUSY' }, { answer: 'ACCEPTED' }])
  expect(span).toMatchObject({ has_ended: true, attributes: { 'servo.run_id': 'traced', 'servo.answer': 'BUSY' } })
})

test('what the sweep sends goes on from the request itself, however often it is sent', async () => {
  const tracing = createToldSpans()
  const traced = await traceDispatches(tracing, view, dispatches, 'again')
  expect(traced.dispatches).toEqual([{ ...dispatches[0], traceparent: REQUEST }, dispatches[1]])
  expect(tracing.spans).toEqual([])
})

test('without a tracer nothing is looked up, and what is sent is the same', async () => {
  asked.length = 0
  expect((await traceDispatches(undefined, view, dispatches, 'first')).dispatches).toBe(dispatches)
  expect(asked).toEqual([])
})
