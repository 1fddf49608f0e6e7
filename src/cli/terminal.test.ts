import { afterEach, describe, expect, test } from '@jest/globals'
import { painted, screenOf } from './screen.js'
import { jsonFor, jsonLog, lineFor, linesFor, MARK, setRaw, visibleLine } from './terminal.js'

const TERMINAL = { isTTY: true }
const PIPE = {}

describe('a line on a terminal', () => {
  test.each([
    ['a cleared screen', 'a\u001b[2Jb', 'a\\x1b[2Jb'],
    ['a title', '\u001b]0;owned\u0007', '\\x1b]0;owned\\x07'],
    ['a colour of somebody else', '\u001b[31mred\u001b[0m', '\\x1b[31mred\\x1b[0m'],
    ['line breaks', 'one\ntwo\r\nthree', 'one\\ntwo\\r\\nthree'],
    ['tabs', 'a\tb', 'a\\tb'],
    ['DEL and what comes after it', 'a\u007f\u0080\u009b2J', 'a\\x7f\\x80\\x9b2J'],
    ['line separators', 'a\u2028b\u2029c\u0085', 'a\\u2028b\\u2029c\\x85'],
    ['another direction', 'user\u202egpj.exe\u2066x\u2069\u200f', 'user\\u202egpj.exe\\u2066x\\u2069\\u200f'],
    ['what takes no room', 'a\u200bb\u2060c\ufeffd\u00ade', 'a\\u200bb\\u2060c\\ufeffd\\xade'],
    ['tags', 'a\u{e0041}\u{e007f}', 'a\\u{e0041}\\u{e007f}'],
    ['half a character', 'a\ud83db', 'a\\ud83db'],
  ])('shows %s, and does nothing of it', (_, text, shown) => {
    expect(visibleLine(text)).toBe(shown)
    expect(lineFor(TERMINAL, text)).toBe(shown)
  })

  test('leaves what people write', () => {
    const text = 'Straße, naïve, 数据, می‌خواهم, क्‍ष, 👩‍🔧, ❤️, C:\\new\\table, 100 %'
    expect(visibleLine(text)).toBe(text)
  })

  test('keeps our colours, and none of anybody else', () => {
    const screen = screenOf({ isTTY: true, write: () => undefined }, {})
    const line = `${painted(screen, 'red', 'bad\u001b[0m')} \u001b[32mgood`
    expect(lineFor(TERMINAL, line)).toBe('\u001b[31mbad\\x1b[0m\u001b[0m \\x1b[32mgood')
    // A number that was not drawn is a colour of somebody else too.
    expect(visibleLine('\u001b[1000;1000;1000;31mx')).toMatch(MARK === '1000;1000;1000;' ? /x/ : /^\\x1b/)
  })
})

describe('several lines on a terminal', () => {
  test('are lines, and none but the first looks like the beginning of one', () => {
    expect(linesFor(TERMINAL, 'servo: it broke\nservo: all is well\n  - path: x\u001b[2J')).toBe(
      'servo: it broke\n  servo: all is well\n  - path: x\\x1b[2J',
    )
  })
})

describe('JSON on a terminal', () => {
  test('is the same value, without a character that does anything', () => {
    const value = { 'k\u009b': 'a\u001b[2J\u007f\u0085\u2028\u202e\u{e0041}\ud83d', text: 'Straße 👩‍🔧' }
    const shown = jsonFor(TERMINAL, JSON.stringify(value))
    expect(shown).toContain('a\\u001b[2J\\u007f\\u0085\\u2028\\u202e\\udb40\\udc41\\ud83d')
    expect(shown).toContain('Straße 👩‍🔧')
    expect(JSON.parse(shown)).toEqual(value)
    expect(jsonFor(TERMINAL, '[{"a":1}]\n')).toBe('[{"a":1}]\n')
  })
})

test('a logger writes JSON lines that a terminal can be given, and to a pipe by itself', () => {
  const said: string[] = []
  const write = (text: string) => said.push(text)
  jsonLog({ isTTY: true, write })?.write('{"url":"/\u009b2J"}\n')
  expect([said, jsonLog({ write })]).toEqual([['{"url":"/\\u009b2J"}\n'], undefined])
})

describe('bytes as they are', () => {
  const text = 'a\u001b[2J\nb\u009b'
  afterEach(() => setRaw(false))

  test('go to a pipe', () => {
    expect([lineFor(PIPE, text), linesFor(PIPE, text), jsonFor(PIPE, text)]).toEqual([text, text, text])
  })

  test('go to a terminal that asks for them, with our colours', () => {
    setRaw(true)
    const terminal = Object.assign(process.stdout, {})
    const before = terminal.isTTY
    try {
      terminal.isTTY = true
      const screen = screenOf({ isTTY: true, write: () => undefined }, {})
      expect(lineFor(terminal, `${painted(screen, 'red', 'x')}${text}`)).toBe(`\u001b[31mx\u001b[0m${text}`)
    } finally {
      terminal.isTTY = before
    }
  })
})
