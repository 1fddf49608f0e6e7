// docs/schedules.md says what fires and what is refused; each row of its tables is asked of the engine.

import { describe, expect, test } from '@jest/globals'
import { firesOf } from '../../src/cli/schedule/preview.js'
import { readCrons } from '../../src/core/cron/schedule-ticks.js'
import { CRON_LIST_MAX } from '../../src/core/limits.js'
import { zonedText } from '../../src/core/zoned-text.js'
import { pageText, rowsBelow } from '../fixtures/page-table.js'

const page = pageText('schedules.md')

const quoted = (cell: string | undefined): readonly string[] => [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, text]) => text as string)

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

  test.each(accepted)('%s is taken', (cron) => {
    expect(readCrons(quoted(cron))).toHaveLength(1)
  })

  test('names the bound of a list in both places', () => {
    expect(page).toContain(`one of more than ${CRON_LIST_MAX},`)
    expect(page).toContain(`| one or a list, at most ${CRON_LIST_MAX} |`)
  })

  test.each(refused)('%s is refused: %s', (cron, because) => {
    expect(readCrons(quoted(cron))).toMatchObject({ problem: expect.stringContaining(because as string) })
  })
})
