// How fast instants are told. An answer of such a bench is only one where every instant was used for something.

import { openScheduleTicks } from '../../src/core/cron/schedule-ticks.js'
import { median, type Report } from '../report.js'
import type { SuiteOptions } from '../truth/options.js'

type Enumerated = { readonly name: string; readonly cron: string; readonly target: string }

const ENUMERATED: readonly Enumerated[] = [
  { name: 'cron_quarter_ticks_per_s', cron: '*/15 * * * *', target: '≥ 10,000,000' },
  { name: 'cron_weekday_ticks_per_s', cron: '30 2 * * 1-5', target: '≥ 1,000,000' },
]

const ZONE = 'America/New_York'
const FROM_MS = Date.UTC(1971, 0, 1)
const TO_MS = Date.UTC(2070, 0, 1)
/** As long as each round takes at least, however few instants a century has. */
const ROUND_MS = 300

export function benchCron(report: Report, { is_quick }: SuiteOptions): void {
  const rounds = is_quick ? 3 : 9
  for (const { name, cron, target } of ENUMERATED) {
    const ticks = openScheduleTicks({ cron, timezone: ZONE })
    if ('problem' in ticks) throw new Error(ticks.problem)
    const once = ticks.count(FROM_MS, TO_MS)
    const rates = Array.from({ length: rounds }, () => {
      let told = 0
      let latest_ms = 0
      const began = performance.now()
      do {
        ticks.walk(FROM_MS, TO_MS, (at_ms) => {
          told += 1
          latest_ms = at_ms
          return true
        })
      } while (performance.now() - began < ROUND_MS)
      const seconds = (performance.now() - began) / 1_000
      if (told % once !== 0 || latest_ms !== ticks.previous(TO_MS))
        throw new Error(`A walk over ${cron} told ${told}, not ${once} each time.`)
      return told / seconds
    })
    const setup = `${cron} in ${ZONE} from 1971 to 2069, ${once} instants, again and again for ${ROUND_MS} ms; median of ${rounds}`
    report.add({ name, value: median(rates), unit: 'ticks/s', target, setup })
  }
}
