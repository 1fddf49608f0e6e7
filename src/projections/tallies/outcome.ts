// What became of events that changed nothing else: refused, or unreadable.

import { REFUSAL_REASONS } from '../outcome.js'
import { QUARANTINE_REASONS } from '../outcome-table.js'
import { counted, type NounTally } from './tally.js'

const REFUSED = counted(
  'servo_events_refused_total',
  'Events that were refused, by reason; heartbeats that came too late are not among them.',
  { labels: ['reason'], series: REFUSAL_REASONS },
)
const QUARANTINED = counted('servo_events_quarantined_total', 'What could not be read as an event, by reason.', {
  labels: ['reason'],
  series: QUARANTINE_REASONS,
})
const CONFLICTS = counted('servo_run_key_conflicts_total', 'Requests whose run key belongs to another run.')

export const OUTCOME_TALLY: NounTally = {
  metrics: [REFUSED, QUARANTINED, CONFLICTS],
  count(rows, book) {
    for (const { after } of rows.changesOf('refusals')) {
      book.count(REFUSED, after.reason)
      if (after.reason === 'RUN_KEY_CONFLICT') book.count(CONFLICTS, '')
    }
    for (const { after } of rows.changesOf('quarantine')) book.count(QUARANTINED, after.reason)
  },
}
