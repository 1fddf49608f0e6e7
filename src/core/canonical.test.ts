import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { boundedJsonBytes, canonicalBytes, canonicalJson, JSON_DEPTH_MAX, utf8Bytes } from './canonical.js'

describe('canonicalJson', () => {
  test('sorts keys by UTF-16 unit', () => {
    // The example of RFC 8785 section 3.2.3: a surrogate pair sorts before U+FB33.
    const value = { '€': 'Euro Sign', '\r': 'Carriage Return', '\ufb33': 'Dagesh', '1': 'One', '😀': 'Face', '\u0080': 'Control', ö: 'o' }
    expect(Object.keys(JSON.parse(canonicalJson(value)) as object)).toHaveLength(7)
    expect(canonicalJson(value)).toBe(
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"o","€":"Euro Sign","😀":"Face","\ufb33":"Dagesh"}',
    )
  })

  test('writes the example of RFC 8785 section 3.2.2', () => {
    const value = {
      numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000f\nA\'B"\\\\"/',
      literals: [null, true, false],
    }
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    )
  })

  test('writes integers that sort otherwise as members of an object', () => {
    expect(canonicalJson({ 10: 'b', 9: 'c', 1: 'a' })).toBe('{"1":"a","10":"b","9":"c"}')
  })

  test('leaves out what is absent, and writes -0 as 0', () => {
    expect(canonicalJson({ b: undefined, a: -0, c: [], d: {} })).toBe('{"a":0,"c":[],"d":{}}')
  })

  test.each([NaN, Infinity, -Infinity, undefined, 1n, Symbol('x'), () => 1])('refuses %p', (value) => {
    expect(() => canonicalJson([value])).toThrow(/Canonical JSON has no/)
  })

  test('refuses half a surrogate pair', () => {
    expect(() => canonicalJson({ a: '\ud83d' })).toThrow(/surrogate/)
    expect(() => canonicalJson({ '\udc00': 1 })).toThrow(/surrogate/)
  })

  test('says what JSON.parse and JSON.stringify say, in one order, within the bound', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as unknown
        const text = canonicalJson(plain)
        expect(JSON.parse(text)).toEqual(plain)
        expect(canonicalJson(JSON.parse(text))).toBe(text)
        expect(canonicalBytes(plain)).toBe(Buffer.byteLength(text))
        expect(boundedJsonBytes(plain)).toBeGreaterThanOrEqual(Buffer.byteLength(text))
      }),
    )
  })
})

describe('utf8Bytes', () => {
  test('is what an encoder would write', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => expect(utf8Bytes(text)).toBe(Buffer.byteLength(text))))
    expect(utf8Bytes('a\ud83d')).toBe(Buffer.byteLength('a\ud83d'))
  })
})

describe('boundedJsonBytes', () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])

  test('knows what JSON cannot say', () => {
    for (const value of [Number.NaN, JSON.parse('1e999') as unknown, { a: ['\ud800'] }, { '\udfff': 1 }, [undefined]]) {
      expect(boundedJsonBytes(value)).toBeUndefined()
    }
  })

  test('refuses what is nested too deeply', () => {
    expect(boundedJsonBytes(nested(JSON_DEPTH_MAX))).toBeDefined()
    expect(boundedJsonBytes(nested(JSON_DEPTH_MAX + 1))).toBeUndefined()
  })
})
