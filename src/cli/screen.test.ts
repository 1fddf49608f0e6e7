import { describe, expect, test } from '@jest/globals'
import { createRedraw, cut, painted, screenOf, wrapped } from './screen.js'

const output = (isTTY: boolean) => {
  const said: string[] = []
  return { isTTY, columns: 10, said, write: (text: string) => said.push(text) }
}

describe('a screen', () => {
  test.each([
    ['a terminal', true, {}, true, true],
    ['a pipe', false, {}, false, false],
    ['NO_COLOR', true, { NO_COLOR: '1' }, true, false],
    ['NO_COLOR with nothing in it', true, { NO_COLOR: '' }, true, true],
    ['a terminal that can nothing', true, { TERM: 'dumb' }, false, false],
  ])('%s', (_, isTTY, environment, canRedraw, hasColour) => {
    expect(screenOf(output(isTTY), environment)).toMatchObject({ canRedraw, hasColour })
  })

  test.each([
    ['0', 0],
    ['nothing', undefined],
  ])('has 80 columns and 24 rows where the terminal reports %s', (_, size) => {
    const to = { ...output(true), columns: size, rows: size } as Parameters<typeof screenOf>[0] & { readonly said: string[] }
    const screen = screenOf(to, {})
    expect([screen.columns(), screen.rows()]).toEqual([80, 24])
    createRedraw(screen)(['a line'])
    expect(to.said).toEqual(['\r\u001b[0Ja line\n'])
  })

  test('colours what it may, and cuts by what is seen', () => {
    expect(painted({ hasColour: false }, 'red', 'x')).toBe('x')
    const red = painted({ hasColour: true }, 'red', 'abcdef')
    expect(cut(`12345${red}`, 8)).toBe('12345\u001b[31mabc\u001b[0m')
    expect(cut('short', 80)).toBe('short')
  })

  test('draws over what was drawn, and never wraps', () => {
    const to = output(true)
    const redraw = createRedraw(screenOf(to, {}))
    redraw(['a line that is too long', 'b'])
    redraw(['c'])
    expect(to.said).toEqual(['\r\u001b[0Ja line tha\nb\n', '\u001b[2A\r\u001b[0Jc\n'])
  })

  test('breaks text between words, and a word where it is longer than a line', () => {
    expect(wrapped('No worker answers at http://127.0.0.1:7801.', 12)).toEqual(['No worker', 'answers at', 'http://127.0', '.0.1:7801.'])
    expect(wrapped('one\ntwo  three', 80)).toEqual(['one two three'])
    expect(wrapped('', 80)).toEqual([])
  })
})
