import { expect, test } from '@jest/globals'
import { spaceFinding } from './disk.js'
import { checkNode, isAtLeast } from './node.js'
import { skewFinding } from './store.js'

test('versions are compared by their parts', () => {
  expect([
    isAtLeast('20.9.0', '20.15'),
    isAtLeast('20.15.0', '20.15'),
    isAtLeast('22.0.0', '20.15'),
    isAtLeast('20.16', '20.15.9'),
  ]).toEqual([false, true, true, true])
  expect(checkNode('18.20.0')).toMatchObject({ level: 'fail', mend: expect.stringContaining('20.15') })
  expect(checkNode('22.1.0')).toMatchObject({ level: 'ok' })
})

test.each([
  [0, 'ok'],
  [700, 'ok'],
  [4_900, 'ok'],
  [30_000, 'warn'],
  [-30_000, 'warn'],
  [120_000, 'fail'],
])('a clock that is %d ms ahead: %s', (ahead_ms, level) => {
  expect(skewFinding('store clock', 1_000_000 + ahead_ms, 1_000_000, 1_000_000).level).toBe(level)
})

test('a slow answer is no skew', () => {
  expect(skewFinding('store clock', 1_010_000, 1_000_000, 1_010_000).level).toBe('ok')
})

test.each([
  [10 * 1_024 ** 3, 'ok', '10.0 GB free for /data'],
  [1_024 ** 3, 'warn', '1.0 GB free for /data'],
  [100 * 1_024 ** 2, 'fail', '100 MB free for /data'],
])('%d bytes of room: %s', (bytes, level, found) => {
  expect(spaceFinding('/data', bytes)).toMatchObject({ level, found })
})
