import { describe, expect, test } from '@jest/globals'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openCalendar } from '../../src/partitions/calendar.js'
import { parseDefinition } from '../../src/partitions/definition.js'
import { openStatic } from '../../src/partitions/static.js'

// Shared cases, read where they are. A checkout without the folder beside it skips them; the walk in
// src/partitions/calendar.test.ts stands on its own.
const VECTORS = fileURLToPath(new URL('../../../shared/vectors/partition.json', import.meta.url))

type Vector = {
  readonly id: string
  readonly definition: { readonly type: string }
  readonly current_time: string | null
  readonly expected_keys?: readonly string[]
  readonly expected_windows?: readonly (readonly [string, string])[]
  readonly expected_count?: number
  readonly expected_first?: string
  readonly expected_last?: string
}

const known = existsSync(VECTORS)
  ? (JSON.parse(readFileSync(VECTORS, 'utf8')) as Vector[]).filter(({ definition }) => ['daily', 'static'].includes(definition.type))
  : []

/** The keys that exist and their windows, where they have some. */
function keysOf(vector: Vector) {
  const definition = parseDefinition(vector.definition)
  if ('problem' in definition) throw new Error(definition.problem)
  if (definition.type === 'static') {
    const order = openStatic(definition)
    return { keys: Array.from({ length: order.total ?? 0 }, (_, i) => order.keyAt(i)), windows: [] }
  }
  const calendar = openCalendar(definition)
  const count = vector.current_time === null ? calendar.total : calendar.countAt(Date.parse(vector.current_time))
  const indexes = Array.from({ length: count ?? 0 }, (_, i) => i)
  return { keys: indexes.map(calendar.keyAt), windows: indexes.map(calendar.windowAt) }
}

describe('shared cases of partitions', () => {
  test(known.length === 0 ? 'are not beside this checkout' : 'are there', () => {
    expect(known.length === 0 || known.length >= 11).toBe(true)
  })

  for (const vector of known) {
    test(vector.id, () => {
      const { keys, windows } = keysOf(vector)
      if (vector.expected_keys !== undefined) expect(keys).toEqual(vector.expected_keys)
      if (vector.expected_count !== undefined) {
        expect([keys.length, keys[0], keys.at(-1)]).toEqual([vector.expected_count, vector.expected_first, vector.expected_last])
      }
      if (vector.expected_windows !== undefined) {
        // Where keys are given by count, the windows are those of the first and the last key.
        const shown = vector.expected_count === undefined ? windows : [windows[0], windows.at(-1)]
        const expected = vector.expected_windows.map(([start, end]) => ({ start_ms: Date.parse(start), end_ms: Date.parse(end) }))
        expect(shown).toEqual(expected)
      }
    })
  }
})
