import { describe, expect, test } from '@jest/globals'
import { runAskedOf } from './asked.js'

describe('what is typed after run start', () => {
  test.each([
    [{}, {}],
    [{ partition: ['2025-01-02', '2025-01-01'] }, { partitions: { keys: ['2025-01-02', '2025-01-01'] } }],
    [{ partitions: '2025-01-01..2025-01-31' }, { partitions: { range: { start: '2025-01-01', end: '2025-01-31' } } }],
    [{ partitions: 'v1.2..v1.9' }, { partitions: { range: { start: 'v1.2', end: 'v1.9' } } }],
    [{ allPartitions: true }, { partitions: { all: true } }],
    [{ tag: ['a=1', 'b=x=y', 'c='] }, { tags: { a: '1', b: 'x=y', c: '' } }],
    [
      { runKey: 'k', priority: -3 },
      { run_key: 'k', priority: -3 },
    ],
  ])('%j asks for %j', (options, asked) => {
    expect(runAskedOf(['+a', 'group:b'], options)).toEqual({ selection: ['+a', 'group:b'], ...asked })
  })

  test.each(['2025-01-01', '..b', 'a..', 'a..b..c', '..', ''])('%j is no range', (partitions) => {
    expect(() => runAskedOf(['a'], { partitions })).toThrow('Write its first and its last key, such as 2025-01-01..2025-01-31.')
  })

  test('partitions are said in one way', () => {
    expect(() => runAskedOf(['a'], { partition: ['x'], allPartitions: true })).toThrow('Give one of them.')
  })
})
