import { describe, expect, test } from '@jest/globals'
import { crc32cHex } from '../core/hash.js'
import { encodePackLine, isPackObject, type PackedSegment, packLines, packName, parsePackLine } from './pack.js'

const NAME = '01JHMPFN80G8M4P9V0MMKSSZ7N'
const segmentOf = (bytes: Uint8Array): PackedSegment => ({
  name: NAME,
  creation_time: '2025-01-15T10:00:00.180Z',
  crc32c: crc32cHex(bytes),
  size: bytes.byteLength,
  keys_sha256: '82284b2760a5279cfcf5edad0383b4b1068f76be336380557dae7ffa9ee31e6c',
  sequence: 3_001,
  bytes,
})
const textOf = (line: Uint8Array): string => Buffer.from(line).toString('utf8')

const BODIES = {
  'a segment': Buffer.from('{"schema":"servo-segment-v1","batches":[]}'),
  'line feeds and blanks': Buffer.from('\n{\r\n\t"a": "b\\n"\n}\n\n'),
  'a byte order mark': Buffer.from('\ufeff{}'),
  'separators that JSON does not escape': Buffer.from('"\u2028\u2029\u0085"'),
  'letters beyond the first plane': Buffer.from('"💥é\u0000"'),
  nothing: Buffer.alloc(0),
  'bytes that are no text': Buffer.from([0x7b, 0xff, 0xfe, 0x0a, 0x00]),
  'half of a letter': Buffer.from('é').subarray(0, 1),
  'a lone surrogate, spelled in bytes': Buffer.from([0xed, 0xa0, 0x80]),
  'a part of a larger buffer': Buffer.from('xx{}xx').subarray(2, 4),
}

describe('a line of a pack', () => {
  test.each(Object.entries(BODIES))('gives back %s byte for byte', (_, bytes) => {
    const line = encodePackLine(segmentOf(bytes))
    expect(line.indexOf(10)).toBe(line.byteLength - 1)
    const parsed = parsePackLine(line.subarray(0, -1), 'Line 1')
    expect(Buffer.from(parsed.bytes).equals(bytes)).toBe(true)
    expect({ ...parsed, bytes: undefined }).toEqual({ ...segmentOf(bytes), bytes: undefined })
  })

  test('is text where the segment is, and base64 only where it is none', () => {
    for (const [name, bytes] of Object.entries(BODIES)) {
      const isText = !/no text|half of|lone/.test(name)
      expect([name, Object.keys(JSON.parse(textOf(encodePackLine(segmentOf(bytes)))) as object).at(-1)]).toEqual([
        name,
        isText ? 'body' : 'body_base64',
      ])
    }
  })

  test('that does not hold what it says is damaged, and is named', () => {
    const good = textOf(encodePackLine(segmentOf(Buffer.from('{"a":1}')))).trimEnd()
    const bad = [
      '',
      'nothing',
      good.replace('"a', '"b'),
      good.replace('"size":7', '"size":8'),
      good.replace('body', 'bodies'),
      good.slice(0, -1),
    ]
    for (const line of bad) {
      expect(() => parsePackLine(Buffer.from(line), 'Line 7 of pack p')).toThrow(/^Line 7 of pack p/)
    }
    expect(parsePackLine(Buffer.from(good), 'Line 7').name).toBe(NAME)
  })

  test('stands between line feeds, the last of which may be missing', () => {
    const lines = (text: string) => [...packLines(Buffer.from(text))].map(textOf)
    expect(lines('a\nb\n')).toEqual(['a', 'b'])
    expect(lines('a\n\nb')).toEqual(['a', '', 'b'])
    expect(lines('')).toEqual([])
  })
})

test('a pack has a name of its own', () => {
  expect(packName(NAME)).toBe(`ledger/orchestration-packs/${NAME}.ndjson`)
  expect(isPackObject(packName(NAME))).toBe(true)
  for (const name of [packName('p'), `${packName(NAME)}.bak`, `ledger/orchestration/${NAME}.json`]) expect(isPackObject(name)).toBe(false)
})
