// One file on local disk, for lines that memory shall not hold: appended, and read again by where they begin. It has no name
// any more once it is open, so that nothing is left of it however its process ends.

import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { assert } from '../core/errors.js'
import type { SortedRun } from '../core/merged-runs.js'

export type Lines = {
  /** The text of the line that begins here, without its line feed. */
  readonly line: (place: number) => string
  /** Whole lines from here on, of about so many bytes and at least one; `end` is where a line ends. */
  readonly lines: (place: number, end: number, bytes: number) => { readonly text: string; readonly next: number }
}

export type SpillFile = Lines & {
  /** Where the next line will begin. */
  readonly end: () => number
  readonly append: (line: string) => void
  /** Of the file, with all lines in it: other threads of this process may read from it. undefined: memory holds them all. */
  readonly descriptor: () => number | undefined
  readonly close: () => void
}

/** Most lines are shorter. */
const LINE_BYTES = 2_048
const UTF8_BYTES_A_UNIT_MAX = 3
const LINE_FEED = 10

/** The file is made in this folder, when lines have to leave memory: beyond so many bytes. */
export function createSpillFile(folder: string, held_bytes_max: number): SpillFile {
  let file: number | undefined
  let unwritten = Buffer.alloc(0)
  let filled = 0
  let written = 0

  function open(): number {
    const own = mkdtempSync(join(folder, 'servo-spill-'))
    try {
      return openSync(join(own, 'rows'), 'w+')
    } finally {
      rmSync(own, { recursive: true, force: true })
    }
  }

  function flush(): void {
    file ??= open()
    for (let at = 0; at < filled; ) at += writeSync(file, unwritten, at, filled - at, written + at)
    written += filled
    filled = 0
  }

  let reading: ReadAt | undefined
  const readAt: ReadAt = (place, bytes) => {
    // What is little never leaves memory.
    if (file === undefined) return unwritten.subarray(place, Math.min(place + bytes, filled))
    if (filled > 0) flush()
    reading ??= readingFrom(file)
    return reading(place, bytes)
  }

  return {
    end: () => written + filled,
    append(line) {
      const bytes_max = line.length * UTF8_BYTES_A_UNIT_MAX
      if (filled + bytes_max > unwritten.length) {
        if (filled > 0) flush()
        if (unwritten.length < bytes_max) unwritten = Buffer.allocUnsafeSlow(Math.max(held_bytes_max, bytes_max))
      }
      filled += unwritten.write(line, filled, 'utf8')
    },
    ...linesOf(readAt),
    descriptor() {
      if (file !== undefined && filled > 0) flush()
      return file
    },
    close() {
      if (file !== undefined) closeSync(file)
      file = undefined
    },
  }
}

/** Some bytes from here on, fewer at the end; they lie there until the next call. */
type ReadAt = (place: number, bytes: number) => Buffer

function readingFrom(descriptor: number): ReadAt {
  let read = Buffer.alloc(0)
  return (place, bytes) => {
    if (read.length < bytes) read = Buffer.allocUnsafeSlow(bytes)
    let count = 0
    for (let more = 1; more > 0 && count < bytes; count += more) more = readSync(descriptor, read, count, bytes - count, place + count)
    return read.subarray(0, count)
  }
}

/** The same lines, for a thread that was told the descriptor. */
export const openLines = (descriptor: number): Lines => linesOf(readingFrom(descriptor))

const linesOf = (readAt: ReadAt): Lines => ({
  line(place) {
    for (let bytes = LINE_BYTES; ; bytes *= 8) {
      const some = readAt(place, bytes)
      const end = some.indexOf(LINE_FEED)
      if (end >= 0) return some.toString('utf8', 0, end)
      assert(some.length === bytes, `No line ends after ${place} in a file of lines.`)
    }
  },
  lines(place, end, bytes) {
    for (let wanted = Math.min(bytes, end - place); ; wanted = Math.min(wanted * 8, end - place)) {
      const some = readAt(place, wanted)
      const last = some.lastIndexOf(LINE_FEED)
      if (last >= 0) return { text: some.toString('utf8', 0, last), next: place + last + 1 }
      assert(some.length === wanted && wanted < end - place, `No line ends after ${place} in a file of lines.`)
    }
  },
})

/** Where the lines of one run begin, and where they end. */
export type LineRange = { readonly start: number; readonly end: number }

/** Of each run at a time: hundreds are read at once. */
const RUN_READ_BYTES = 16 * 1_024

/** Lines that were appended in their order, as a run of what they say. */
export function runOfLines<T>({ lines }: Lines, { start, end }: LineRange, parse: (text: string) => readonly T[]): SortedRun<T> {
  let place = start
  return () => {
    if (place === end) return undefined
    const { text, next } = lines(place, end, RUN_READ_BYTES)
    place = next
    return parse(text)
  }
}
