// `npm run oracle -- [--zones A,B] [--from-year Y] [--years N] [--seed N] [--expressions N]`: compares the engine for cron with
// the rule by brute force. The last line says how many lists of expressions were compared, and how many failed.

import { parseArgs } from 'node:util'
import { zoneProblem } from '../../src/core/zone-name.js'
import { compareYear } from './cron-compare.js'
import { allZonesWithLinks, oddZoneYears, type ZoneYear } from './zones.js'

const FROM_YEAR = 2024
const YEARS = 3
const EXPRESSIONS = 8
const FAILURES_SHOWN = 20
const SAY_EVERY_MS = 10_000

const { values } = parseArgs({
  options: {
    zones: { type: 'string' },
    'from-year': { type: 'string' },
    years: { type: 'string' },
    seed: { type: 'string' },
    expressions: { type: 'string' },
  },
})
const seed = wholeNumber('--seed', values.seed ?? '1')
const expressions = wholeNumber('--expressions', values.expressions ?? String(EXPRESSIONS))
const wanted = zoneYears()

const began = performance.now()
const totals = { expressions: 0, instants: 0, changes: 0, failures: 0 }
let said_at = began
for (const [i, { zone, year }] of wanted.entries()) {
  const compared = compareYear({ zone, year, seed, expressions })
  totals.expressions += compared.expressions
  totals.instants += compared.instants
  totals.changes += compared.changes
  for (const failure of compared.failures) {
    totals.failures += 1
    if (totals.failures <= FAILURES_SHOWN) console.log(failure)
  }
  if (performance.now() - said_at < SAY_EVERY_MS) continue
  said_at = performance.now()
  console.error(
    `${i + 1} of ${wanted.length} years of zones, now ${zone} ${year}; ${totals.instants} instants, ${totals.failures} failures`,
  )
}
const zones = new Set(wanted.map(({ zone }) => zone)).size
console.log(
  `note: ${zones} zones, ${wanted.length} years of them with ${totals.changes} changes of the clocks, ${totals.instants} instants, ` +
    `seed ${seed}, in ${((performance.now() - began) / 1_000).toFixed(1)} s (time zones of ${process.versions.tz ?? 'an unknown release'})`,
)
console.log(`expressions compared ${totals.expressions}, failures ${totals.failures}`)
process.exitCode = totals.failures === 0 ? 0 : 1

/** Those of the odd years come with all of them, where nobody asks for some. */
function zoneYears(): readonly ZoneYear[] {
  const from_year = wholeNumber('--from-year', values['from-year'] ?? String(FROM_YEAR))
  const years = wholeNumber('--years', values.years ?? String(YEARS))
  const named = values.zones?.split(',').map((zone) => zone.trim())
  for (const zone of named ?? []) {
    const problem = zoneProblem(zone)
    if (problem !== null) refuse(`--zones: ${problem}`)
  }
  const plain = (named ?? allZonesWithLinks()).flatMap((zone) => Array.from({ length: years }, (_, i) => ({ zone, year: from_year + i })))
  const is_all = named === undefined && values['from-year'] === undefined && values.years === undefined
  return is_all ? [...oddZoneYears(), ...plain] : plain
}

function wholeNumber(flag: string, text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 0) return value
  return refuse(`${flag} is ${JSON.stringify(text)}. Give it a whole number.`)
}

function refuse(sentence: string): never {
  console.error(sentence)
  process.exit(2)
}
