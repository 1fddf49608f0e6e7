// What is selected of each dimension, together: counted by multiplication, and any one of it found by its number.

import { assert } from '../core/errors.js'
import { escaped } from './key-format.js'
import { type Entry, indexRange, isRefusal, type KeyOrder, type Refusal } from './key-order.js'
import { type DimensionOrder, isMulti, joined, type MultiOrder } from './multi.js'
import { mergeSpans, type Span, spansOf } from './spans.js'

export type DimensionSelector =
  | { readonly keys: readonly string[] }
  | { readonly range: { readonly start: string; readonly end: string } }
  | { readonly all: true }
  | { readonly match: readonly string[] }

export type Block = { readonly count: number; readonly entryAt: (position: number) => Entry }

type Pick = { readonly count: number; readonly indexAt: (place: number) => number; readonly spans: () => readonly Span[] }

export function blockOf(order: KeyOrder, dims: Readonly<Record<string, DimensionSelector>>): Block | Refusal {
  const picks = picksOf(order, dims)
  if (isRefusal(picks)) return picks
  const { dimensions } = order as MultiOrder
  return { count: picks.reduce((product, { count }) => product * count, 1), entryAt: (position) => entryOf(dimensions, picks, position) }
}

/** As ranges of numbers, dimension by dimension. */
export function dimensionSpans(order: KeyOrder, dims: Readonly<Record<string, DimensionSelector>>): readonly (readonly Span[])[] | Refusal {
  const picks = picksOf(order, dims)
  return isRefusal(picks) ? picks : picks.map(({ spans }) => spans())
}

function picksOf(order: KeyOrder, dims: Readonly<Record<string, DimensionSelector>>): readonly Pick[] | Refusal {
  if (!isMulti(order)) return { problem: `Dimensions are selected of partitions that have some, and these are ${order.description}.` }
  const { dimensions } = order
  const names = dimensions.map(({ name }) => name).join(', ')
  const unknown = Object.keys(dims).find((name) => dimensions.every((each) => each.name !== name))
  if (unknown !== undefined) return { problem: `The dimension "${unknown}" is not there: there are ${names}.` }
  const picks: Pick[] = []
  for (const dimension of dimensions) {
    const asked = Object.hasOwn(dims, dimension.name) ? dims[dimension.name] : undefined
    if (asked === undefined) return { problem: `The dimension "${dimension.name}" is missing: select something of each of ${names}.` }
    const pick = pickOf(dimension.order, asked)
    if (isRefusal(pick)) return { problem: `The dimension "${dimension.name}": ${pick.problem}` }
    picks.push(pick)
  }
  return picks
}

function entryOf(dimensions: readonly DimensionOrder[], picks: readonly Pick[], position: number): Entry {
  let rest = position
  const entries: Entry[] = []
  for (let place = picks.length - 1; place >= 0; place--) {
    const { count, indexAt } = picks[place] as Pick
    const entry = dimensions[place]?.order.entryAt(indexAt(rest % count))
    assert(entry, `Position ${position} of a selection by dimensions has no key.`)
    entries.unshift(entry)
    rest = Math.floor(rest / count)
  }
  return joined(dimensions, entries)
}

function pickOf(order: KeyOrder, asked: DimensionSelector): Pick | Refusal {
  if ('range' in asked) {
    const found = indexRange(order, asked.range)
    return isRefusal(found) ? found : spanned(found)
  }
  if ('all' in asked) {
    const { total } = order
    if (total === null) return { problem: `${order.description} have no end. Select a range.` }
    if (order.is_endless) return { problem: 'All at once cannot be selected of keys that go on with time. Select a range.' }
    return spanned({ first: 0, count: total })
  }
  if ('match' in asked) return matching(order, asked.match)
  const indexes = new Set<number>()
  for (const key of asked.keys) {
    const found = order.indexOf(key)
    if (isRefusal(found)) return { problem: `The key ${found.problem}` }
    indexes.add(found.index)
  }
  return listed([...indexes].sort((a, b) => a - b))
}

const spanned = ({ first, count }: Span): Pick => ({
  count,
  indexAt: (place) => first + place,
  spans: () => mergeSpans([{ first, count }]),
})

const listed = (indexes: readonly number[]): Pick => ({
  count: indexes.length,
  indexAt: (place) => indexes[place] as number,
  spans: () => spansOf(indexes),
})

/** Keys of which each is looked at; those of time have a range for it. */
function matching(order: KeyOrder, patterns: readonly string[]): Pick | Refusal {
  if (order.total === null || order.windowAt(0) !== null) {
    return { problem: `Patterns are for keys that are listed, and these are ${order.description}. Select a range.` }
  }
  const expressions = patterns.map((pattern) => new RegExp(`^${pattern.split('*').map(escaped).join('.*')}$`, 'u'))
  const indexes = Array.from({ length: order.total }, (_, i) => i).filter((i) => {
    const key = order.keyAt(i) ?? ''
    return expressions.some((expression) => expression.test(key))
  })
  return indexes.length > 0 ? listed(indexes) : { problem: `No key fits ${patterns.join(' or ')}.` }
}
