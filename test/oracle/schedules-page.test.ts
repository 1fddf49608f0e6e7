// docs/schedules.md says what fires and what is refused; each row of its tables is asked of the engine.

import { describe, expect, test } from '@jest/globals'
import { firesOf } from '../../src/cli/schedule/preview.js'
import { readCrons } from '../../src/core/cron/schedule-ticks.js'
import { CRON_LIST_MAX } from '../../src/core/limits.js'
import { instantText } from '../../src/core/time.js'
import { zonedText } from '../../src/core/zoned-text.js'
import { pageText, rowsBelow } from '../fixtures/page-table.js'

const page = pageText('schedules.md')

const quoted = (cell: string | undefined): readonly string[] => [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, text]) => text as string)

/** A Wednesday. */
const FROM_MS = Date.parse('2025-01-01T00:00:00Z')
const on = (date: string, ...clocks: readonly string[]): readonly string[] => clocks.map((clock) => `2025-${date}T${clock}`)
const days = (...dates: readonly string[]): readonly string[] => dates.map((date) => `${date.length > 5 ? date : `2025-${date}`}T00:00`)

/** By cron and words of the row: what is true of the words, from FROM_MS on. */
const FIRST_FIRES: Readonly<Record<string, readonly string[]>> = {
  '30 6 * * 1-5 fires at 06:30, Monday to Friday': ['01-01', '01-02', '01-03', '01-06', '01-07'].flatMap((date) => on(date, '06:30')),
  '*/20 30 6 * * * fires at 06:30:00, 06:30:20 and 06:30:40': [
    ...on('01-01', '06:30:00', '06:30:20', '06:30:40'),
    ...on('01-02', '06:30:00'),
  ],
  '0 9-17/2 * * * fires at 9, 11, 13, 15 and 17': [...on('01-01', '09:00', '11:00', '13:00', '15:00', '17:00'), ...on('01-02', '09:00')],
  '0 22-2 * * * fires at 22, 23, 0, 1 and 2: a range may go on past the end': [
    ...on('01-01', '00:00', '01:00', '02:00', '22:00', '23:00'),
    ...on('01-02', '00:00'),
  ],
  '0,*/15 * * * * fires at 0, 15, 30 and 45: values may come twice': on('01-01', '00:00', '00:15', '00:30', '00:45', '01:00'),
  '0 0 1 jan,jul * fires on the first of January and of July; names and L in any case': days('01-01', '07-01', '2026-01-01'),
  '0 0 * * 7 fires on Sundays, which are 0 as well': days('01-05', '01-12', '01-19'),
  '0 0 L * * fires on the last day of each month': days('01-31', '02-28', '03-31', '04-30'),
  '0 0 * * 5L fires on the last Friday of each month': days('01-31', '02-28', '03-28', '04-25'),
  '0 0 * * mon#2 fires on the second Monday of each month': days('01-13', '02-10', '03-10'),
  '0 0 13 * 5 fires on each 13th, *and* on each Friday: with both fields either is enough': days('01-03', '01-10', '01-13', '01-17'),
  '0 0 */2 * 1 fires on odd days, and on Mondays: a star with a step is a restriction': days('01-01', '01-03', '01-05', '01-06', '01-07'),
  '0 0 31 * * fires in months that have a 31st: nothing is moved to another day': days('01-31', '03-31', '05-31', '07-31', '08-31'),
  '0 0 29 2 * fires in leap years': days('2028-02-29', '2032-02-29'),
  '@hourly fires also `@daily`, `@midnight`, `@weekly`, `@monthly`, `@yearly`, `@annually`, in any case': on(
    '01-01',
    '00:00',
    '01:00',
    '02:00',
  ),
}

describe('docs/schedules.md', () => {
  const changes = rowsBelow(page, 'cron', 'zone', 'from', 'fires', 'what it shows')
  const accepted = rowsBelow(page, 'cron', 'fires')
  const refused = rowsBelow(page, 'cron', 'because')

  test('has rows', () => {
    expect([changes.length, accepted.length, refused.length].every((count) => count >= 8)).toBe(true)
  })

  test.each(changes)('%s in %s from %s on', (crons, timezone, from, fires) => {
    const expected = quoted(fires)
    const found = firesOf({
      cron: quoted(crons),
      timezone: timezone as string,
      from_ms: Date.parse(from as string),
      count: expected.length,
    })
    expect(found.map((at_ms) => zonedText(timezone as string, at_ms))).toEqual(expected)
  })

  test('has first fires here for each row that says what fires', () => {
    expect(accepted.map(([cron, fires]) => `${quoted(cron)[0]} fires ${fires}`).sort()).toEqual(Object.keys(FIRST_FIRES).sort())
  })

  test.each(accepted)('%s fires %s', (cron, fires) => {
    const [text] = quoted(cron) as [string]
    const expected = FIRST_FIRES[`${text} fires ${fires}`] ?? []
    const found = firesOf({ cron: [text], timezone: 'UTC', from_ms: FROM_MS, count: expected.length })
    expect(found.map((at_ms) => instantText(at_ms).slice(0, 19))).toEqual(expected.map((each) => `${each}:00`.slice(0, 19)))
  })

  test.each(['@hourly', '@daily', '@midnight', '@weekly', '@monthly', '@yearly', '@annually'])('%s is a name that is known', (name) => {
    expect(readCrons(name)).toHaveLength(1)
  })

  test('names the bound of a list in both places', () => {
    expect(page).toContain(`one of more than ${CRON_LIST_MAX},`)
    expect(page).toContain(`| one or a list, at most ${CRON_LIST_MAX} |`)
  })

  test.each(refused)('%s is refused: %s', (cron, because) => {
    expect(readCrons(quoted(cron))).toMatchObject({ problem: expect.stringContaining(because as string) })
  })
})
