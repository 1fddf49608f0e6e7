// Makes text safe for a terminal. Log lines, errors, names and rows come from elsewhere: a control character in one of them
// would move the cursor, set the title, or begin a line that looks like one of ours. Pipes and --raw get the bytes.

import { randomInt } from 'node:crypto'

export type Output = { readonly isTTY?: boolean }

const ESCAPE = '\u001b['

/** What our own colours have before their number, from the start of the process on. Text from elsewhere cannot know it, so its
 *  escape sequences are told apart. Every number has four digits at most, so that what measures a line takes it for a colour. */
export const MARK = Array.from({ length: 3 }, () => `${randomInt(1_000, 10_000)};`).join('')

const OWN_COLOUR = new RegExp(`\\u001b\\[${MARK}(\\d+)m`, 'g')

/** Control characters, line and paragraph separators, halves of characters, what changes the direction of a line, and what
 *  takes no room. Joiners and variation selectors stay: Persian, Hindi and emoji are written with them. */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]|(?![\u200c\u200d]|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}/gu

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function escaped(character: string): string {
  const code = character.codePointAt(0) as number
  if (code > 0xffff) return `\\u{${code.toString(16)}}`
  return SHORT[character] ?? (code > 0xff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\x${code.toString(16).padStart(2, '0')}`)
}

/** One line: what a terminal may be given of this text. Our own colours stay. */
export const visibleLine = (text: string): string =>
  text
    .split(OWN_COLOUR)
    // The numbers of the colours are at the odd places.
    .map((part, place) => (place % 2 === 1 ? `${ESCAPE}${part}m` : part.replaceAll(UNSAFE, escaped)))
    .join('')

const withPlainColours = (text: string): string => text.replaceAll(OWN_COLOUR, (_, colour: string) => `${ESCAPE}${colour}m`)

/** The same value for whoever reads it as JSON: strings alone have such characters. */
const visibleJson = (json: string): string =>
  json.replaceAll(UNSAFE, (character) => {
    if (character === '\n') return character
    return Array.from({ length: character.length }, (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`).join('')
  })

const RAW = Symbol('gets every byte as it is')

/** Of all that this process prints from now on. */
export function setRaw(isRaw: boolean): void {
  for (const output of [process.stdout, process.stderr]) Object.assign(output, { [RAW]: isRaw })
}

const isGuarded = (output: Output): boolean => output.isTTY === true && (output as { readonly [RAW]?: boolean })[RAW] !== true

/** A line for this output. On a terminal it stays one line. */
export const lineFor = (output: Output, text: string): string => (isGuarded(output) ? visibleLine(text) : withPlainColours(text))

export const jsonFor = (output: Output, json: string): string => (isGuarded(output) ? visibleJson(json) : json)

/** For a logger that writes JSON lines; undefined: it writes the bytes by itself, which is faster. */
export const jsonLog = (output: Output & { readonly write: (text: string) => unknown }): { write: (line: string) => void } | undefined =>
  isGuarded(output) ? { write: (line) => void output.write(visibleJson(line)) } : undefined

/** Several lines. On a terminal all but the first are indented, so that none of them can pass for the beginning of a message. */
export function linesFor(output: Output, text: string): string {
  if (!isGuarded(output)) return withPlainColours(text)
  const [first = '', ...others] = text.split('\n')
  return [visibleLine(first), ...others.map((line) => (line.startsWith(' ') ? '' : INDENT) + visibleLine(line))].join('\n')
}

const INDENT = '  '
