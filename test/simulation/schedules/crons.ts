// The crons and zones of this simulation, each beside what it means: the check reads no text, and asks nothing of src.

import type { CronMeaning } from '../../oracle/cron-rule.js'

const all = (size: number): ReadonlySet<number> => new Set(Array.from({ length: size }, (_, value) => value))
const each = (size: number, step: number): ReadonlySet<number> => new Set([...all(size)].filter((value) => value % step === 0))

const daily: Pick<CronMeaning, 'months' | 'day_of_month' | 'day_of_week'> = {
  months: new Set(Array.from({ length: 12 }, (_, index) => index + 1)),
  day_of_month: null,
  day_of_week: null,
}

/** Often enough for stages of minutes, and seldom enough for outages of weeks. */
const MEANINGS: Readonly<Record<string, CronMeaning>> = {
  '* * * * *': { ...daily, seconds: null, minutes: all(60), hours: all(24) },
  '*/2 * * * *': { ...daily, seconds: null, minutes: each(60, 2), hours: all(24) },
  '*/20 * * * * *': { ...daily, seconds: each(60, 20), minutes: all(60), hours: all(24) },
  '15,45 */3 * * * *': { ...daily, seconds: new Set([15, 45]), minutes: each(60, 3), hours: all(24) },
  '*/5 * * * 1-5': { ...daily, day_of_week: (day) => day >= 1 && day <= 5, seconds: null, minutes: each(60, 5), hours: all(24) },
  '30 1,2 * * *': { ...daily, seconds: null, minutes: new Set([30]), hours: new Set([1, 2]) },
}

export const CRONS = Object.keys(MEANINGS)
export const ZONES = ['UTC', 'UTC', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'] as const
/** Of these nobody can read one thing or another. */
export const UNREADABLE = [{ cron_expressions: ['61 * * * *'] }, { timezone: 'Mars/Olympus' }] as const

/** undefined: the cron or the zone cannot be read. */
export function meaningsOf(crons: readonly string[], timezone: string): readonly CronMeaning[] | undefined {
  if (!(ZONES as readonly string[]).includes(timezone)) return undefined
  const meanings = crons.flatMap((cron) => MEANINGS[cron] ?? [])
  return meanings.length === crons.length ? meanings : undefined
}
