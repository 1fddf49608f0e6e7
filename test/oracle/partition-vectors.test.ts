import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { listPartitions } from '../../src/cli/partition/listing.js'

// Shared cases, read where they are, and asked as `servo partition keys` is. A checkout without the folder beside it skips
// them; the walk in src/partitions/calendar.test.ts stands on its own.
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

const known = existsSync(VECTORS) ? (JSON.parse(readFileSync(VECTORS, 'utf8')) as Vector[]) : []

/** The cases list the values of dimensions alone. */
const short = (key: string): string =>
  key
    .split('|')
    .map((value) => value.slice(value.indexOf('=') + 1))
    .join('|')

describe('shared cases of partitions', () => {
  test(known.length === 0 ? 'are not beside this checkout' : 'are there', () => {
    expect(known.length === 0 || known.length >= 41).toBe(true)
  })

  for (const vector of known) {
    test(vector.id, () => {
      const { definition, current_time, expected_keys, expected_count, expected_windows } = vector
      const listed = listPartitions(definition, { ...(current_time === null ? {} : { now_ms: Date.parse(current_time) }), windows: true })
      const keys = definition.type === 'multi' ? listed.keys.map(short) : listed.keys
      expect(listed.count).toBe(keys.length)
      if (expected_keys !== undefined) expect(keys).toEqual(expected_keys)
      if (expected_count !== undefined) {
        expect([keys.length, keys[0], keys.at(-1)]).toEqual([expected_count, vector.expected_first, vector.expected_last])
      }
      if (expected_windows !== undefined) {
        // Where keys are given by count, the windows are those of the first and the last key.
        const windows = listed.windows ?? []
        expect(expected_count === undefined ? windows : [windows[0], windows.at(-1)]).toEqual(expected_windows)
      }
    })
  }
})
