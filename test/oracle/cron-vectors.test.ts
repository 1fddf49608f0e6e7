import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { firesOf } from '../../src/cli/schedule/preview.js'
import { zonedText } from '../../src/core/zoned-text.js'

// Shared cases, read where they are. A checkout without the folder beside it skips them; the properties and tables in
// src/core/cron stand on their own.
const VECTORS = fileURLToPath(new URL('../../../shared/vectors/cron.json', import.meta.url))

type Vector = {
  readonly id: string
  readonly cron: string | readonly string[]
  readonly timezone: string
  readonly start: string
  readonly start_inclusive: boolean
  readonly expected: readonly string[]
}

const known = existsSync(VECTORS) ? (JSON.parse(readFileSync(VECTORS, 'utf8')) as Vector[]) : []

/** As `servo schedule preview --json` prints them. */
function firstOf({ cron, timezone, start, start_inclusive, expected }: Vector): readonly string[] {
  const from_ms = Date.parse(start) + (start_inclusive ? 0 : 1)
  return firesOf({ cron: [cron].flat(), timezone, from_ms, count: expected.length }).map((at_ms) => zonedText(timezone, at_ms))
}

describe('shared cases of cron', () => {
  test(known.length === 0 ? 'are not beside this checkout' : 'are there', () => {
    expect(known.length === 0 || known.length >= 70).toBe(true)
  })

  for (const vector of known) {
    test(`${vector.id} ${String(vector.cron)} in ${vector.timezone}`, () => {
      expect(firstOf(vector)).toEqual(vector.expected)
    })
  }
})
