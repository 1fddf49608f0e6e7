import { expect, test } from '@jest/globals'
import * as entry from 'servo'

// A name that is taken away breaks modules that nobody here sees.
test('what users import has these functions, and no worker', () => {
  const kinds = ['cronPartitions', 'daily', 'hourly', 'monthly', 'multiPartitions', 'staticPartitions', 'weekly']
  expect(Object.keys(entry).sort()).toEqual(['DefinitionError', 'asset', 'defineCodeLocation', 'lastComplete', 'schedule', ...kinds].sort())
})
