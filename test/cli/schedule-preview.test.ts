// `servo schedule preview`, which needs nothing but itself.

import { describe, expect, test } from '@jest/globals'
import { runServo } from '../fixtures/servo-process.js'

const preview = (...args: readonly string[]) => runServo(['schedule', 'preview', ...args], { SERVO_API: 'http://127.0.0.1:1' })

const CHANGE = ['--timezone', 'America/New_York', '--from', '2025-03-09T00:00:00-05:00']

describe('servo schedule preview', () => {
  test('prints one array of instants for programs, the first one included', async () => {
    expect(await preview('--cron', '30 2 * * *', ...CHANGE, '--count', '2', '--json')).toEqual({
      code: 0,
      stdout: '["2025-03-09T03:00:00-04:00","2025-03-10T02:30:00-04:00"]',
      stderr: '',
    })
    const again = await preview(
      '--cron',
      '30 2 * * *',
      ...CHANGE.slice(0, 2),
      '--from',
      '2025-03-09T03:00:00-04:00',
      '--count',
      '1',
      '--json',
    )
    expect(again.stdout).toBe('["2025-03-09T03:00:00-04:00"]')
  })

  test('takes several crons as one schedule', async () => {
    const { stdout } = await preview('--cron', '0 0 * * *', '--cron', '@hourly', ...CHANGE, '--count', '3', '--json')
    expect(JSON.parse(stdout)).toEqual(['2025-03-09T00:00:00-05:00', '2025-03-09T01:00:00-05:00', '2025-03-09T03:00:00-04:00'])
  })

  test('tells people the local time, the time in UTC, and how long until then', async () => {
    const { code, stdout, stderr } = await preview('--cron', '0 0 1 1 *')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const year = new Date().getUTCFullYear() + 1
    expect(stdout).toMatch(
      new RegExp(`│ in UTC +│ UTC +│ +│\\n.*\\n│ ${year}-01-01T00:00:00\\+00:00 │ ${year}-01-01T00:00:00Z │ in \\d+ \\w+ `),
    )
    expect(stdout.match(/^│ \d/gm)).toHaveLength(10)
  })

  test('warns of what means something else than it seems to', async () => {
    const { code, stdout, stderr } = await preview('--cron', '*/90 * * * *', ...CHANGE, '--count', '1', '--json')
    expect({ code, stdout }).toEqual({ code: 0, stdout: '["2025-03-09T00:00:00-05:00"]' })
    expect(stderr).toBe('Note: "*/90" as the minute of "*/90 * * * *" is 0 alone: steps start anew with each hour.')
  })

  test('says that nothing more fires', async () => {
    const asked = ['--cron', '0 0 29 2 *', '--from', '9999-01-01T00:00:00Z']
    expect(await preview(...asked, '--json')).toEqual({ code: 0, stdout: '[]', stderr: '' })
    expect((await preview(...asked)).stderr).toBe('Nothing fires from 9999-01-01T00:00:00.000Z on, up to the year 9999.')
  })

  test.each([
    [
      ['--cron', '0 0 31 4 *'],
      'The cron expression "0 0 31 4 *" can never match: April has no day 31. For the last day of a month write L.',
    ],
    [['--cron', '@daily', '--timezone', 'Europe/Berln'], 'There is no time zone "Europe/Berln". Did you mean "Europe/Berlin"?'],
    [['--cron', '@daily', '--from', '2025-03-09'], '2025-03-09 names no zone. Write 2025-03-09T00:00:00Z for UTC'],
    [['--cron', '@daily', '--count', '1001'], 'Give 1000 at most, and ask again from the last one.'],
    [[], 'Say which: a schedule by its name, or a cron with --cron.'],
  ])('%j is not understood, with what to do', async (args, sentence) => {
    const { code, stdout, stderr } = await preview(...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(sentence)
  })
})
