import { expect, test } from '@jest/globals'
import { clockText, markdownText } from './page-text.js'

test('text of a user is one line in which nothing is a link, a tag, code or emphasis', () => {
  expect(markdownText('a\n  b\r\nc')).toBe('a b c')
  expect(markdownText('[x](y) <b> `c` *d* \\ | _e_')).toBe('\\[x](y) \\<b> \\`c\\` \\*d\\* \\\\ | _e_')
})

test('a clock has its year where it is another one, and seconds where there are any', () => {
  const now = Date.UTC(2025, 7, 31, 12)
  expect(clockText(Date.UTC(2025, 8, 1, 2), now)).toBe('1 Sep 02:00')
  expect(clockText(Date.UTC(2026, 0, 1, 0, 0, 5), now)).toBe('1 Jan 2026 00:00:05')
})
