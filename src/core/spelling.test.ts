import { expect, test } from '@jest/globals'
import { nearestWord, suggestion } from './spelling.js'

const WORDS = ['code_version', 'partitions', 'partitions_per_task', 'priority', 'tags', 'run']

test.each([
  ['partition', 'partitions'],
  ['prioirty', 'priority'],
  ['codeVersion', 'code_version'],
  ['Tags', 'tags'],
  ['tag', 'tags'],
  ['rnu', 'run'],
])('%s is meant to be %s', (word, meant) => {
  expect(nearestWord(word, WORDS)).toBe(meant)
})

test.each(['schedule', 'ab', '', 'pots'])('%j is meant to be none of them', (word) => {
  expect(nearestWord(word, WORDS)).toBeUndefined()
  expect(suggestion(word, WORDS)).toBe('')
})

test('of several the nearest is suggested', () => {
  expect(suggestion('abcdef', ['abcdxy', 'abcdex'])).toBe(' Did you mean abcdex?')
})
