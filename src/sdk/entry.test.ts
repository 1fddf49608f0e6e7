import { expect, test } from '@jest/globals'
import * as entry from 'servo'

// A name that is taken away breaks modules that nobody here sees.
test('what users import has these functions, and no worker', () => {
  expect(Object.keys(entry).sort()).toEqual([
    'DefinitionError',
    'asset',
    'daily',
    'defineCodeLocation',
    'lastComplete',
    'schedule',
    'staticPartitions',
  ])
})
