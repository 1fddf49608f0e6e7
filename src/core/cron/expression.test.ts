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
    ['the last day of a month, in any case', '0 0 l,15 * *', { days: { of_month: { days: [15], has_last: true } } }],
    ['a name in any case', '@Weekly', { minutes: [0], hours: [0], days: { of_week: [{ weekdays: [0], which: 'every' }] } }],
    ['a name for all of it', '@weekly', { minutes: [0], hours: [0], days: { of_week: [{ weekdays: [0], which: 'every' }] } }],
  ])('says %s', (_, text, expected) => {
    expect(read(text)).toMatchObject(expected)
  })

  test.each([
    ['', 'is empty. Give it five fields'],
    ['* * * *', 'has 4 fields. Give it five'],
    ['* * * * * * *', 'has 7 fields. Give it five'],
    ['constructor', 'has 1 fields. Give it five'],
    ['@reboot', 'is no name that is known: use one of @yearly'],
    ['H * * * *', 'has "H" as its minute: H would be drawn by chance'],
    ['0 0 15W * *', 'has "15W" as its day of the month: W is not known'],
    ['0,,5 * * * *', 'has "0,,5" as its minute: a value is missing between commas'],
    ['60 * * * *', 'is not understood: "60" is no minute. Give it 0 to 59, such as 0, a range 0-59 or a step */5.'],
    ['0 5,24 * * *', 'is not understood: "24" is no hour. Give it 0 to 23'],
    ['61 0 5 * * *', 'is not understood: "61" is no second. Give it 0 to 59'],
    ['0 0 32 * *', 'is not understood: "32" is no day of the month. Give it 1 to 31, or L for the last.'],
    ['0 0 1 13 *', 'is not understood: "13" is no month. Give it 1 to 12, or names such as jan.'],
    ['0 0 1 jam *', 'is not understood: "jam" is no month.'],
    ['0 0 * * 8', 'is not understood: "8" is no day of the week. Give it 0 to 7, where 0 and 7 are Sunday'],
    ['*/0 * * * *', 'is not understood: "*/0" is no minute. A step is 1 or more, such as */5.'],
    ['0 5-2/0 * * *', 'is not understood: "5-2/0" is no hour. A step is 1 or more'],
    ['1-2-3 * * * *', 'is not understood: "1-2-3" is no minute.'],
    ['0 0 L-3 * *', '"L-3" as its day of the month: L is the last day, alone: days are not counted from it. Write L, or days such as 28.'],
    ['0 0 1,15L * *', '"1,15L" as its day of the month: L is the last day, alone'],
    ['0 0 * * #', '"#" is no day of the week. Give it 0 to 7'],
    ['0 0 1 1 * 2025', '"2025" is no day of the week. A cron has no year: leave it out.'],
    ['0 0 1 1 * 2025-2027', '"2025-2027" is no day of the week. A cron has no year: leave it out.'],
    ['0 0 * * 1-5#2', '"1-5#2" is no day of the week. With # there is one day: write a list such as 1#2,2#2.'],
    ['0 0 * * 5#6', '"5#6" is no day of the week. # counts from 1 to 5 within a month: write 5#5, or 5L for the last.'],
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
