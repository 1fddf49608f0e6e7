// What people type after options, as values; a word that is not one of those that there are gets the one that was meant.

import { InvalidArgumentError } from 'commander'
import { readInstant } from '../core/instant-text.js'
import { suggestion } from '../core/spelling.js'

export function parseCount(text: string): number {
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a whole number from 1 on.')
}

export function parseWhole(text: string): number {
  if (/^[0-9]{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a whole number from 0 on.')
}

/** 0 is one: nothing new starts. */
export function parseCap(text: string): number {
  if (/^[0-9]{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a whole number from 0 on; 0 closes the pool.')
}

export function parseInteger(text: string): number {
  if (/^-?[0-9]{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a whole number.')
}

export function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new InvalidArgumentError('Give a port from 0 to 65535.')
}

export function parseInstant(text: string): number {
  const read = readInstant(text)
  if ('problem' in read) throw new InvalidArgumentError(read.problem)
  return read.at_ms
}

const UNITS_MS: Readonly<Record<string, number>> = { '': 1_000, s: 1_000, m: 60_000, h: 3_600_000 }

/** In milliseconds: `90s`, `2m`, `1h`, or seconds. */
export function parseDuration(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,6})([smh]?)$/.exec(text) ?? []
  const unit_ms = UNITS_MS[unit]
  if (number !== '' && unit_ms !== undefined) return Number(number) * unit_ms
  throw new InvalidArgumentError('Give a time such as 90s, 2m or 1h.')
}

export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

/** States are written in capitals, and typed as people like. */
export function parseOneOf(words: readonly string[]): (text: string) => string {
  return (text) => {
    const word = text.toUpperCase()
    if (words.includes(word)) return word
    const meant = suggestion(word, words)
    throw new InvalidArgumentError(meant === '' ? `There are ${words.join(', ')}.` : meant.trim())
  }
}

export function collectTag(text: string, before: readonly string[] = []): readonly string[] {
  if (/^[^=]+=/.test(text)) return [...before, text]
  throw new InvalidArgumentError('Write NAME=VALUE.')
}

export const tagsOf = (texts: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(texts.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]))
