// What a command may do to where it prints: colours and redrawing are for terminals, and a pipe gets plain lines.

import { lineFor, MARK, type Output as TerminalOutput } from './terminal.js'

export type Screen = {
  /** Lines may be drawn again. */
  readonly canRedraw: boolean
  readonly hasColour: boolean
  /** Tells our own colours from those in text from elsewhere; what prints takes it out. */
  readonly mark?: string
  /** A line as it may be printed. */
  readonly shown: (line: string) => string
  readonly columns: () => number
  readonly rows: () => number
  readonly write: (text: string) => void
}

type Output = TerminalOutput & {
  readonly columns?: number
  readonly rows?: number
  readonly write: (text: string) => unknown
}

const COLUMNS_DEFAULT = 80
const ROWS_DEFAULT = 24

/** https://no-color.org: set to anything but nothing, it is obeyed. */
export function screenOf(output: Output, environment: Readonly<Record<string, string | undefined>>): Screen {
  const isTerminal = output.isTTY === true && environment['TERM'] !== 'dumb'
  return {
    canRedraw: isTerminal,
    hasColour: isTerminal && (environment['NO_COLOR'] ?? '') === '',
    mark: MARK,
    shown: (line) => lineFor(output, line),
    // A terminal without a window, as in some containers, reports 0.
    columns: () => output.columns || COLUMNS_DEFAULT,
    rows: () => output.rows || ROWS_DEFAULT,
    write: (text) => void output.write(text),
  }
}

const ESCAPE = '\u001b['
const COLOURS = { red: 31, green: 32, yellow: 33, blue: 34, grey: 90 } as const
type Colour = keyof typeof COLOURS

/** What paints: a screen, or what stands for one. */
export type Paint = Pick<Screen, 'hasColour' | 'mark'>

export const painted = ({ hasColour, mark = '' }: Paint, colour: Colour, text: string): string =>
  hasColour ? `${ESCAPE}${mark}${COLOURS[colour]}m${text}${ESCAPE}${mark}0m` : text

const STATE_COLOURS: Readonly<Record<string, Colour>> = {
  SUCCEEDED: 'green',
  FAILED: 'red',
  RUNNING: 'blue',
  DISPATCHED: 'blue',
  RETRY_WAIT: 'yellow',
  CANCELLING: 'yellow',
  CANCELLED: 'yellow',
  SKIPPED: 'yellow',
  BLOCKED: 'grey',
  TRIGGERED: 'green',
  ACTIVE: 'green',
  PAUSED: 'yellow',
  REMOVED: 'grey',
}

/** `text` is the state, with what pads it. */
export function paintedState(screen: Paint, text: string): string {
  const colour = STATE_COLOURS[text.trim()]
  return colour === undefined ? text : painted(screen, colour, text)
}

/** Draws lines where those before were. A line that is wider than the screen would wrap, and the count would be wrong. */
export function createRedraw(screen: Screen): (lines: readonly string[]) => void {
  let drawn = 0
  return (lines) => {
    const up = drawn === 0 ? '' : `${ESCAPE}${drawn}A`
    screen.write(`${up}\r${ESCAPE}0J${lines.map((line) => `${cut(screen.shown(line), screen.columns())}\n`).join('')}`)
    drawn = lines.length
  }
}

const ESCAPES = new RegExp(`(${ESCAPE.replace('[', '\\[')}\\d+m)`)

/** By what is seen: escapes have no width, and the last of them is kept. */
export function cut(line: string, columns: number): string {
  let left = columns
  return line
    .split(ESCAPES)
    .map((part) => {
      if (ESCAPES.test(part)) return part
      const characters = [...part].slice(0, left)
      left -= characters.length
      return characters.join('')
    })
    .join('')
}

/** Text on lines that fit, broken between words where it can be. */
export function wrapped(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/).filter((each) => each !== '')) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= columns) lines[lines.length - 1] = `${line} ${word}`
    else for (let start = 0; start < word.length; start += columns) lines.push(word.slice(start, start + columns))
  }
  return lines
}
