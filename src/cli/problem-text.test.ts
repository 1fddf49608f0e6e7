import { expect, test } from '@jest/globals'
import { problemText } from './problem-text.js'

const fault = (path: string, message: string) => ({ path, message })

test.each([
  ['the sentence alone', { status: 409, detail: 'Somebody else deployed.' }, 'Somebody else deployed.'],
  ['the title where there is no sentence', { status: 409, title: 'Not now' }, 'Not now'],
  ['the status where there is nothing', { status: 418 }, 'The API answered 418.'],
  ['one fault that the sentence has', { status: 400, detail: 'a is wrong.', errors: [fault('a', 'a is wrong.')] }, 'a is wrong.'],
  [
    'one fault that it does not have',
    { status: 400, detail: 'The request is wrong.', errors: [fault('limit', 'Give it 1 to 100.')] },
    'The request is wrong.\n  - limit: Give it 1 to 100.',
  ],
  [
    'several, each on a line, and what is left of the sentence',
    { status: 400, detail: 'Nothing was deployed. A is wrong. B too.', errors: [fault('assets[0]', 'A is wrong.'), fault('', 'B too.')] },
    'Nothing was deployed.\n  - assets[0]: A is wrong.\n  - B too.',
  ],
  ['where to look for more', { status: 500, detail: 'Something failed.', request_id: 'req-1' }, 'Something failed. (request req-1)'],
])('%s', (_, problem, text) => {
  expect(problemText(problem)).toBe(text)
})
