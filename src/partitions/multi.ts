// Keys of several dimensions, ordered by their names: the first one varies slowest, as the hours do on a clock. A key's
// number is that of its values, each times how many keys the dimensions after it have.

import { type Entry, type Found, isRefusal, type KeyOrder, type NotFound, type Window } from './key-order.js'

export type DimensionOrder = { readonly name: string; readonly order: KeyOrder }
export type MultiOrder = KeyOrder & {
  readonly dimensions: readonly DimensionOrder[]
  /** The number in each dimension; null past the end. */
  readonly placesOf: (index: number) => readonly number[] | null
}

export const isMulti = (order: KeyOrder): order is MultiOrder => 'dimensions' in order

/** Its dimensions; an order without any is its own only side. */
export const sidesOf = (order: KeyOrder): readonly { readonly name: string | null; readonly order: KeyOrder }[] =>
  isMulti(order) ? order.dimensions : [{ name: null, order }]

export function openMulti(dimensions: readonly DimensionOrder[]): MultiOrder {
  const total = dimensions.reduce<number | null>(
    (product, { order }) => (product === null || order.total === null ? null : product * order.total),
    1,
  )
  const sizeFrom = (place: number): number => dimensions.slice(place).reduce((product, { order }) => product * order.size(), 1)
  const times = dimensions.filter(({ order }) => order.windowAt(0) !== null)

  function placesOf(index: number): readonly number[] | null {
    if (!Number.isInteger(index) || index < 0) return null
    let rest = index
    const places: number[] = []
    for (let place = dimensions.length - 1; place > 0; place--) {
      const size = dimensions[place]?.order.size() ?? 0
      if (size === 0) return null
      places.unshift(rest % size)
      rest = Math.floor(rest / size)
    }
    return [rest, ...places]
  }

  function entryAt(index: number): Entry | null {
    const entries = placesOf(index)?.map((each, place) => dimensions[place]?.order.entryAt(each) ?? null)
    if (entries === undefined || entries.includes(null)) return null
    return joined(dimensions, entries as readonly Entry[])
  }

  function indexOf(key: string): Found {
    const values = valuesOf(dimensions, key)
    if ('problem' in values) return values
    let index = 0
    let problem: string | undefined
    const nearest = dimensions.map(({ name, order }, place) => {
      const value = values[place] ?? ''
      const found = order.indexOf(value)
      if (!isRefusal(found)) {
        index = (place === 0 ? 0 : index * order.size()) + found.index
        return `${name}=${value}`
      }
      problem ??= `${name} ${found.problem}`
      return found.nearest === null ? null : `${name}=${found.nearest}`
    })
    if (problem === undefined) return { index }
    // Where a value is like none there is nothing whole to say.
    if (nearest.includes(null)) return { problem: `"${key}" is no key: its ${problem}`, nearest: null }
    return { problem: `"${key}" is no key: its ${problem} Say "${nearest.join('|')}".`, nearest: nearest.join('|') }
  }

  return {
    type: 'multi',
    dimensions,
    placesOf,
    // Made when it is read: the keys that exist at an instant are opened for each run, and few of them are described.
    get description() {
      return `each of ${dimensions.map(({ name, order }) => `${name}: ${order.description}`).join('; and each of ')}`
    },
    total,
    is_endless: dimensions.some(({ order }) => order.is_endless),
    size: () => sizeFrom(0),
    keyAt: (index) => entryAt(index)?.partition_key ?? null,
    entryAt,
    indexOf,
    windowAt(index): Window | null {
      const place = times.length === 1 ? dimensions.indexOf(times[0] as DimensionOrder) : -1
      const places = place < 0 ? null : placesOf(index)
      return places === null ? null : (dimensions[place]?.order.windowAt(places[place] as number) ?? null)
    },
    at: (now_ms, ahead) => openMulti(dimensions.map(({ name, order }) => ({ name, order: order.at(now_ms, ahead) }))),
  }
}

/** The entry of the values, as it is written: with names, which the short form leaves out. */
export function joined(dimensions: readonly DimensionOrder[], entries: readonly Entry[]): Entry {
  const named = (member: 'partition_key' | 'sort_key'): string =>
    dimensions.map(({ name }, place) => `${name}=${entries[place]?.[member]}`).join('|')
  return {
    partition_key: named('partition_key'),
    sort_key: named('sort_key'),
    partition_values: Object.fromEntries(dimensions.map(({ name }, place) => [name, entries[place]?.partition_key ?? ''])),
  }
}

/** `name`: null where it has none. */
type Part = { readonly name: string | null; readonly value: string }

function partOf(text: string): Part {
  const end = text.indexOf('=')
  return { name: end < 0 ? null : text.slice(0, end), value: text.slice(end + 1) }
}

/** Its values in the order of the dimensions: with all names, in any order, or with none, in theirs. */
function valuesOf(dimensions: readonly DimensionOrder[], key: string): readonly string[] | NotFound {
  const parts = key.split('|').map(partOf)
  if (parts.length === dimensions.length) {
    if (parts.every(({ name }) => name === null)) return parts.map(({ value }) => value)
    const values = dimensions.flatMap(({ name }) => parts.find((part) => part.name === name)?.value ?? [])
    if (values.length === dimensions.length) return values
  }
  const names = dimensions.map(({ name }) => name).join(' and the ')
  const nearest = nearestOf(dimensions, parts)
  const form = nearest.map((each, place) => `${dimensions[place]?.name}=${each ?? '…'}`).join('|')
  return { problem: `"${key}" is no key: write the ${names}, such as "${form}".`, nearest: nearest.includes(null) ? null : form }
}

/** With what is said of a dimension, by its name or as one of its keys; the first key where nothing is. */
function nearestOf(dimensions: readonly DimensionOrder[], parts: readonly Part[]): readonly (string | null)[] {
  return dimensions.map(({ name, order }) => {
    const said =
      parts.find((part) => part.name === name) ?? parts.find((part) => part.name === null && !isRefusal(order.indexOf(part.value)))
    if (said === undefined) return order.keyAt(0)
    const found = order.indexOf(said.value)
    return isRefusal(found) ? found.nearest : said.value
  })
}
