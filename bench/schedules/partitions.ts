// How long a partition takes to be found by its number among fifty million, in a zone whose clocks change.

import { parseDefinition } from '../../src/partitions/definition.js'
import { isRefusal } from '../../src/partitions/key-order.js'
import { openOrder } from '../../src/partitions/order.js'
import { median, type Report } from '../report.js'
import type { SuiteOptions } from '../truth/options.js'

const DEFINITION = { type: 'cron', start: '1970-01-01', cron_schedule: '* * * * *', timezone: 'America/New_York' }
const COUNT = 50_000_000
const ROUND = 20_000
/** A prime, so that one is not beside the next. */
const STRIDE = 7_919_001

export function benchPartitions(report: Report, { is_quick }: SuiteOptions): void {
  const parsed = parseDefinition(DEFINITION)
  const order = isRefusal(parsed) ? parsed : openOrder(parsed)
  if (isRefusal(order)) throw new Error(order.problem)
  const last = order.keyAt(COUNT - 1) ?? ''
  const found = order.indexOf(last)
  if (isRefusal(found) || found.index !== COUNT - 1) throw new Error(`The key "${last}" has not the number ${COUNT - 1}.`)
  const rounds = is_quick ? 3 : 9
  const durations = Array.from({ length: rounds }, (_, round) => {
    let characters = 0
    const began = performance.now()
    for (let i = 0; i < ROUND; i++) characters += (order.keyAt(((round * ROUND + i) * STRIDE) % COUNT) ?? '').length
    if (characters < ROUND * 16) throw new Error('A number had no key.')
    return ((performance.now() - began) * 1_000) / ROUND
  })
  const setup = `key of a number below ${COUNT}, each minute in New York from 1970 on, ${ROUND} numbers all over; median of ${rounds}`
  report.add({ name: 'partition_kth_us', value: median(durations), unit: 'µs', target: '≤ 20', setup })
}
