// What the automation makes of what it is told, where that is more than adding up.

import { expect, test } from '@jest/globals'
import { TALLIED } from '../../src/turn/watch.js'
import { createAutomationMetrics } from '../../src/telemetry/automation-metrics.js'

test('an attempt counts as mended when a worker takes it from the sweep, and not when it is only asked about again', async () => {
  const metrics = createAutomationMetrics(TALLIED)
  const plain = { was_there: false, waited_for_room: false }
  metrics.answers('first', [{ answer: 'ACCEPTED', outbox_status: 'PENDING', ...plain }])
  metrics.answers('again', [
    { answer: 'ACCEPTED', outbox_status: 'PENDING', ...plain },
    { answer: 'ACCEPTED', outbox_status: 'PENDING', ...plain, waited_for_room: true },
    { answer: 'ACCEPTED', outbox_status: 'ACKED', ...plain },
    { answer: 'BUSY', outbox_status: 'PENDING', ...plain },
  ])
  const text = await metrics.text()
  expect(text).toContain('\nservo_repairs_total{kind="attempt_sent_again"} 1\n')
  expect(text).toContain('\nservo_handover_answers_total{send="again",answer="ACCEPTED"} 3\n')
})

test('an attempt that the queue had before the sweep asked is no repair, and one that it had not is', async () => {
  const metrics = createAutomationMetrics(TALLIED)
  const seen = { answer: 'ACCEPTED', outbox_status: 'PENDING', waited_for_room: false }
  metrics.answers('again', [
    { ...seen, was_there: true },
    { ...seen, was_there: true },
    { ...seen, was_there: false },
  ])
  const text = await metrics.text()
  expect(text).toContain('\nservo_repairs_total{kind="attempt_sent_again"} 1\n')
  expect(text).toContain('\nservo_handover_answers_total{send="again",answer="ACCEPTED"} 3\n')
})

test('retries of appends are the tries after the first, and a turn that failed has no rounds', async () => {
  const metrics = createAutomationMetrics(TALLIED)
  metrics.append({ outcome: 'appended', duration_ms: 10, tries: 1 })
  metrics.append({ outcome: 'failed', duration_ms: 20_000, tries: 3 })
  metrics.ended({ outcome: 'failed', duration_ms: 5, rounds: 0 })
  const text = await metrics.text()
  expect(text).toContain('\nservo_append_retries_total 2\n')
  expect(text).toContain('\nservo_turn_rounds_count 0\n')
  expect(text).toContain('\nservo_turn_duration_seconds_count{outcome="failed"} 1\n')
})
