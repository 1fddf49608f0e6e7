import { expect, test } from '@jest/globals'
import { readResult } from './result.js'

test.each([
  [undefined, { outcome: 'SUCCEEDED' }],
  [null, { outcome: 'SUCCEEDED' }],
  [{}, { outcome: 'SUCCEEDED' }],
  [{ row_count: 3 }, { outcome: 'SUCCEEDED', metadata: { row_count: 3 } }],
  [
    { metadata: { row_count: 3 }, data_version: 'v1' },
    { outcome: 'SUCCEEDED', metadata: { row_count: 3 }, data_version: 'v1' },
  ],
  [{ data_version: 'v1' }, { outcome: 'SUCCEEDED', data_version: 'v1' }],
  [{ skip_reason: 'no new files' }, { outcome: 'SKIPPED', skip_reason: 'no new files' }],
  [
    { skip_reason: undefined, metadata: {} },
    { outcome: 'SUCCEEDED', metadata: {} },
  ],
])('%j is %j', (returned, result) => {
  expect(readResult(returned)).toEqual(result)
})

test.each([
  [3, 'run returned 3. Return metadata, such as {"row_count": 3}, or nothing.'],
  [[], 'run returned a list of 0.'],
  [new Date(0), 'run returned a Date.'],
  [{ metadata: {}, row_count: 3 }, 'run returned row_count beside metadata. Move it into metadata'],
  [{ metadata: 3 }, 'run returned metadata that is 3. Give it an object of JSON.'],
  [{ data_version: 3 }, 'run returned a data_version that is 3. Give it text.'],
  [{ skip_reason: '' }, 'run returned a skip_reason that is "". Say why in text.'],
  [{ skip_reason: 'a', metadata: {} }, 'run returned skip_reason and metadata. What is skipped has nothing but its skip_reason.'],
  [{ at: new Date(0) }, 'run returned metadata whose "at" is no JSON: a Date. Turn it into text or numbers.'],
  [{ list: [{ at: new Date(0) }] }, 'run returned metadata whose "list" is no JSON'],
  [{ share: Number.NaN }, 'run returned metadata whose "share" is no JSON: NaN.'],
  [{ big: 1n }, 'run returned metadata whose "big" is no JSON: 1.'],
  [{ half: '\ud800' }, 'run returned metadata whose "half" is no JSON'],
  [{ text: 'x'.repeat(16_384) }, 'run returned 16395 bytes of metadata, and 16384 is the most.'],
])('%# is refused in words', (returned, problem) => {
  expect(readResult(returned)).toEqual({ problem: expect.stringContaining(problem) })
})
