// docs/schedules.md says what fires and what is refused; each row of its tables is asked of the engine.

import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { firesOf } from '../../src/cli/schedule/preview.js'
import { readCrons } from '../../src/core/cron/schedule-ticks.js'
import { CRON_LIST_MAX } from '../../src/core/limits.js'
import { zonedText } from '../../src/core/zoned-text.js'

const page = readFileSync(new URL('../../docs/schedules.md', import.meta.url), 'utf8')

/** The rows of the table whose head begins with these columns, cell by cell. */
function rowsBelow(...head: readonly string[]): readonly (readonly string[])[] {
  const lines = page.split('\n')
  const from = lines.indexOf(`| ${head.join(' | ')} |`)
  const end = lines.findIndex((line, i) => i > from && !line.startsWith('|'))
  if (from === -1) throw new Error(`The page has no table of ${head.join(', ')}.`)
  return lines.slice(from + 2, end).map((line) => line.slice(2, -2).split(' | '))
}

const quoted = (cell: string | undefined): readonly string[] => [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, text]) => text as string)

describe('docs/schedules.md', () => {
  const changes = rowsBelow('cron', 'zone', 'from', 'fires', 'what it shows')
  const accepted = rowsBelow('cron', 'fires')
  const refused = rowsBelow('cron', 'because')

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
