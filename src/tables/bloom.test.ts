import { describe, expect, test } from '@jest/globals'
import { sha256Hex } from '../core/hash.js'
import { buildFilter, filterKeyOf, keyDigest, mightContain, openFilter } from './bloom.js'

const keys = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `${prefix}:${i}`)

describe('a Bloom filter', () => {
  test.each([1, 7, 100, 2_400])('says yes to each of its %d keys', (count) => {
    const filter = openFilter(buildFilter(keys(count, 'in')))
    expect(filter.key_count).toBe(count)
    expect(keys(count, 'in').filter((key) => !mightContain(filter, keyDigest(key)))).toEqual([])
  })

  test.each([100, 2_400])('over %d keys lets through fewer than one absent key in 10,000', (count) => {
    const filter = openFilter(buildFilter(keys(count, 'in')))
    const hits = keys(50_000, 'out').filter((key) => mightContain(filter, keyDigest(key)))
    expect(hits.length).toBeLessThanOrEqual(5)
  })

  test('counts equal neighbours once and takes 24 bits a key', () => {
    const filter = openFilter(buildFilter(['run_a', 'run_a', 'run_a', 'run_b', ...keys(98, 'run')]))
    expect(filter.key_count).toBe(100)
    expect(filter.bit_count).toBe(2_400)
  })

  test('over no key says no', () => {
    expect(mightContain(openFilter(buildFilter([])), keyDigest('x'))).toBe(false)
  })

  test('of the same keys has the same bytes for ever', () => {
    const bytes = buildFilter(['a', 'é', '\u{1f600}', 'run_ywyvhmgqjsi3naar7smdnlfsve'])
    expect(Buffer.from(bytes).toString('hex')).toBe('53564246011100006000000004000000ac6db7588f71e2263a7287a0eb235bae')
    expect(sha256Hex(buildFilter(keys(1_000, 'in')))).toBe('87b9612e4eae8813ccba00c171598362359063fc94dd9c28b9d84a0bdaf06738')
  })

  test('is refused when a byte of it changed, naming the file', () => {
    const bytes = buildFilter(keys(10, 'in'))
    for (let at = 0; at < bytes.length; at++) {
      const damaged = bytes.slice()
      damaged[at] = (damaged[at] as number) ^ 4
      expect(() => openFilter(damaged, 'runs.bloom')).toThrow('runs.bloom')
    }
    expect(() => openFilter(bytes.subarray(0, bytes.length - 1))).toThrow('another size')
    expect(() => openFilter(new Uint8Array(3))).toThrow('too few')
  })

  test('knows a key by its first column', () => {
    expect(filterKeyOf('tasks', ['run_a', 'asset#1'])).toBe('run_a')
    expect(filterKeyOf('idempotency_keys', ['deploy:main:1'])).toBe('deploy:main:1')
    expect(filterKeyOf('refusals', ['deploy:main:1', '01JHMPFN9C4W8R2T6Y0B3D5F7H'])).toBe('deploy:main:1')
  })
})
