import { describe, expect, test } from '@jest/globals'
import { openCronCalendar } from './calendar.js'
import { cronWarning, parseCron } from './expression.js'

function read(text: string) {
  const parsed = parseCron(text)
  if ('problem' in parsed) throw new Error(parsed.problem)
  return parsed
}

describe('an expression', () => {
  test('of five fields begins each minute at its start, of six it says the seconds', () => {
    expect(read('5 6 * * *')).toMatchObject({ seconds: [0], minutes: [5], hours: [6], days: { of_month: null, of_week: null } })
    expect(read('*/20 5 6 * * *')).toMatchObject({ seconds: [0, 20, 40], minutes: [5], hours: [6] })
  })

  test.each([
    ['22-2 hours', '0 22-2 * * *', { hours: [0, 1, 2, 22, 23] }],
    ['22-2/2 hours', '0 22-2/2 * * *', { hours: [0, 2, 22] }],
    ['days of the week by name', '0 0 * * fri-mon', { days: { of_week: [{ weekdays: [0, 1, 5, 6], which: 'every' }] } }],
    ['Sunday as 7', '0 0 * * 6-7', { days: { of_week: [{ weekdays: [0, 6], which: 'every' }] } }],
    ['months by name', '0 0 1 nov-feb *', { months: [1, 2, 11, 12] }],
    ['the last day', '0 0 L * *', { days: { of_month: { days: [], has_last: true } } }],
    ['the first and the last day', '0 0 1,L * *', { days: { of_month: { days: [1], has_last: true } } }],
    ['the second Monday', '0 0 * * mon#2', { days: { of_week: [{ weekdays: [1], which: 2 }] } }],
    [
      'the last Friday, in both spellings',
      '0 0 * * 5L,L5',
      {
        days: {
          of_week: [
            { weekdays: [5], which: 'last' },
            { weekdays: [5], which: 'last' },
          ],
        },
      },
    ],
    [
      'a list of all of them',
      '0 0 * * 1,3#2',
      {
        days: {
          of_week: [
            { weekdays: [1], which: 'every' },
            { weekdays: [3], which: 2 },
          ],
        },
      },
    ],
    ['Thursday and Wednesday, which have an H and a W', '0 0 * * thu,wed', { days: { of_week: [{ weekdays: [3, 4], which: 'every' }] } }],
    ['a name for all of it', '@weekly', { minutes: [0], hours: [0], days: { of_week: [{ weekdays: [0], which: 'every' }] } }],
  ])('says %s', (_, text, expected) => {
    expect(read(text)).toMatchObject(expected)
  })

  test.each([
    ['', 'is empty. Give it five fields'],
    ['* * * *', 'has 4 fields. Give it five'],
    ['* * * * * * *', 'has 7 fields. Give it five'],
    ['@reboot', 'is no name that is known: use one of @yearly'],
    ['H * * * *', 'has "H" as its minute: H would be drawn by chance'],
    ['0 0 15W * *', 'has "15W" as its day of the month: W is not known'],
    ['0,,5 * * * *', 'has "0,,5" as its minute: a value is missing between commas'],
    ['60 * * * *', 'is not understood'],
    ['*/0 * * * *', 'is not understood'],
    ['0 5-2/0 * * *', 'is not understood'],
    ['0 0 31 4 *', 'can never match: April has no day 31. For the last day of a month write L.'],
    ['0 0 30,31 feb *', 'can never match: February has no day 30.'],
    ['0 0 31 2,4,nov *', 'can never match: February and April and November have no day 31.'],
    ['0 0 * * L', 'does not say which day'],
    [`${'0,'.repeat(600)}0 * * * *`, 'has more than 1000 characters'],
  ])('%j is refused, with what to do', (text, problem) => {
    expect(parseCron(text)).toMatchObject({ problem: expect.stringContaining(problem) })
  })

  test.each(['0 0 29 2 *', '0 0 31 4,5 *', '0 0 31 4 1', '0 0 L 4 *', '0 0 31,L 4 *', '0 0 * 2 1#5'])('%j matches now and then', (text) => {
    expect(openCronCalendar([read(text)]).is_empty).toBe(false)
  })

  test('whose step is wider than its field means less than it seems to, and is warned of', () => {
    expect(cronWarning('*/90 * * * *')).toContain('is 0 alone: steps start anew with each hour')
    expect(cronWarning('*/15 */6 * * *')).toBeUndefined()
  })
})
