import { expect, test } from '@jest/globals'
import { cyclesIn } from './cycle.js'

const graph = (dependencies: Readonly<Record<string, readonly string[]>>) => cyclesIn(new Map(Object.entries(dependencies)))

test('a graph without a cycle has none, however often an asset is needed', () => {
  expect(graph({ a: ['b', 'c'], b: ['d'], c: ['d'], d: ['elsewhere'] })).toEqual([])
})

test('a cycle begins and ends with its smallest key', () => {
  expect(graph({ c: ['a'], a: ['b'], b: ['c'], x: ['b'] })).toEqual([['a', 'b', 'c', 'a']])
  expect(graph({ x: ['y'], y: ['z'], z: ['y'] })).toEqual([['y', 'z', 'y']])
  expect(graph({ a: ['a'] })).toEqual([['a', 'a']])
})

test('every knot of cycles shows, also where one leads into another', () => {
  const cycles = graph({ a: ['c', 'b'], b: ['a'], c: ['d'], d: ['c'], e: ['e'] })
  expect(cycles).toEqual([
    ['c', 'd', 'c'],
    ['a', 'b', 'a'],
    ['e', 'e'],
  ])
})

test('a chain as long as a location is no problem', () => {
  const keys = Array.from({ length: 1_900 }, (_, i) => `a${String(i).padStart(4, '0')}`)
  const chain = new Map(keys.map((key, i) => [key, [keys[(i + 1) % keys.length] as string]]))
  expect(cyclesIn(chain)[0]).toHaveLength(1_901)
})

test('no more than ten are shown', () => {
  const pairs = Array.from({ length: 20 }, (_, i) => [`a${i}`, [`a${i}`]] as const)
  expect(cyclesIn(new Map(pairs))).toHaveLength(10)
})
