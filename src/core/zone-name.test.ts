import { describe, expect, test } from '@jest/globals'
import { zoneProblem } from './zone-name.js'

describe('the name of a zone', () => {
  test.each(['UTC', 'Europe/Berlin', 'US/Eastern', 'Antarctica/Troll', ...Intl.supportedValuesOf('timeZone').slice(0, 20)])(
    '%s is one',
    (name) => {
      expect(zoneProblem(name)).toBeNull()
    },
  )

  test.each([
    ['Europe/Berln', 'There is no time zone "Europe/Berln". Did you mean "Europe/Berlin"?'],
    ['America/New York', 'There is no time zone "America/New York". Did you mean "America/New_York"?'],
    ['Berlin', 'There is no time zone "Berlin". Did you mean "Europe/Berlin"?'],
    ['Europe/New_York', 'There is no time zone "Europe/New_York". Did you mean "America/New_York"?'],
    ['Mars/Olympus_Mons', 'There is no time zone "Mars/Olympus_Mons". Give a name of the IANA database, such as "Europe/Berlin" or "UTC".'],
    ['', 'There is no time zone "". Give a name of the IANA database, such as "Europe/Berlin" or "UTC".'],
    ['UTC+2', 'An offset is no zone: it hides changes of the clocks.'],
    ['+02:00', 'An offset is no zone: it hides changes of the clocks.'],
    ['x'.repeat(101), 'A time zone has at most 100 characters.'],
  ])('%j is none', (name, problem) => {
    expect(zoneProblem(name)).toContain(problem)
  })
})
