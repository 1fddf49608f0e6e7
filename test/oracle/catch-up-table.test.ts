// docs/schedules.md says what runs and what is counted of what was missed; each row of its table is played through the
// controller and the fold.

import { describe, expect, test } from '@jest/globals'
import { HOUR_MS, instantText, MINUTE_MS } from '../../src/core/time.js'
import { pageText, rowsBelow } from '../fixtures/page-table.js'
import { createScheduleStory, requestedIn, SCHEDULE_ID, type ScheduleStory } from '../fixtures/schedule-story.js'

const DAY = '2025-01-15'
const WEEK_HOURS = 7 * 24
const at = (clock: string): number => Date.parse(`${DAY}T${clock}:00Z`)
const HOURLY = { cron_expressions: ['0 * * * *'] }

type Played = {
  readonly story: ScheduleStory
  /** What became of earlier instants belongs to no row. */
  readonly from: number
  /** Each instant that the crons name from then on. */
  readonly due: readonly number[]
}

/** Asked at each of these times, as an automation that is there asks. */
function look(story: ScheduleStory, ...clocks: readonly string[]): void {
  for (const clock of clocks) story.decide(at(clock))
}

function running(changes: Parameters<ScheduleStory['define']>[1] = {}): ScheduleStory {
  const story = createScheduleStory()
  story.define(at('00:00') - HOUR_MS + MINUTE_MS, { ...HOURLY, ...changes })
  return story
}

const hours = (first: number, last: number): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, i) => at('00:00') + (first + i) * HOUR_MS)

function paused(changes: Parameters<ScheduleStory['define']>[1] = {}): Played {
  const story = running(changes)
  look(story, '10:00')
  story.status(at('10:30'), 'PAUSED')
  look(story, '11:00', '12:00', '13:00')
  story.status(at('13:30'), 'ACTIVE')
  look(story, '13:30')
  return { story, from: at('10:30'), due: hours(11, 13) }
}

function stoodStill(change: (story: ScheduleStory) => void = () => undefined): Played {
  const story = running()
  look(story, '10:00')
  change(story)
  look(story, '13:30')
  return { story, from: at('10:30'), due: hours(11, 13) }
}

/** By the first cell of the row. */
const CASES: Readonly<Record<string, () => Played>> = {
  'it is made at 10:20': () => {
    const story = createScheduleStory()
    story.define(at('10:20'), HOURLY)
    look(story, '10:20', '11:00', '12:00', '13:00')
    return { story, from: 0, due: hours(9, 13) }
  },
  'the automation stands still from 10:30 to 13:30': () => stoodStill(),
  'it stands still from 00:30 to 09:30': () => {
    const story = running()
    look(story, '00:00', '09:30')
    return { story, from: at('00:30'), due: hours(1, 9) }
  },
  'it stands still for a week': () => {
    const story = running()
    look(story, '10:00')
    story.decide(at('10:30') + WEEK_HOURS * HOUR_MS)
    return { story, from: at('10:30'), due: hours(11, 10 + WEEK_HOURS) }
  },
  'paused at 10:30, resumed at 13:30': () => {
    const played = paused()
    look(played.story, '14:00')
    return played
  },
  'the automation stands still from 10:30 to 13:00, and it is paused at 12:30, resumed at 13:30': () => {
    const story = running()
    look(story, '10:00')
    story.status(at('12:30'), 'PAUSED')
    look(story, '13:00')
    story.status(at('13:30'), 'ACTIVE')
    look(story, '13:30', '14:00')
    return { story, from: at('10:30'), due: hours(11, 14) }
  },
  'the same with `catch_up_on_resume`': () => paused({ catch_up_on_resume: true }),
  'at 13:30, after two hours of standstill, its cron becomes `30 * * * *`': () => {
    const story = running()
    look(story, '10:00', '11:00')
    story.define(at('13:30'), { cron_expressions: ['30 * * * *'] })
    look(story, '13:30', '14:30')
    return { story, from: at('11:30'), due: [] }
  },
  'its name or its tags change': () =>
    stoodStill((story) => {
      story.define(at('12:10'), { ...HOURLY, tags: { team: 'core' } })
      const said = { at: at('12:20'), request: 'rename' }
      story.fold(story.say.scheduleDefined(SCHEDULE_ID, { ...HOURLY, tags: { team: 'core' } }, { schedule_name: 'other' }, said))
    }),
  'with `overlap_policy` SKIP the run of 10:00 goes on until 12:30': () => {
    const story = createScheduleStory()
    story.define(at('09:30'), { ...HOURLY, overlap_policy: 'SKIP' })
    const [run] = requestedIn(story.decide(at('10:00')))
    look(story, '11:00', '12:00')
    story.fold(story.say.runCancelRequested(run?.run_id ?? '', { at: at('12:30') }))
    look(story, '13:00')
    return { story, from: at('10:30'), due: hours(11, 13) }
  },
  'it maps to a partition, and none is complete yet': () => {
    const story = createScheduleStory({ a: { partitions: { type: 'daily', start_date: DAY } } })
    story.define(at('10:30'), { ...HOURLY, partition_mapping: { type: 'LAST_COMPLETE', end_offset: 0 } })
    look(story, '11:00', '12:00')
    return { story, from: at('10:30'), due: hours(11, 12) }
  },
}

const clocksIn = (cell: string): readonly string[] => cell.match(/\b\d\d:\d\d\b/g) ?? []
const clockOf = (at_ms: number): string => instantText(at_ms).slice(11, 16)

/** What the page's words say of the instants that are due. */
function runsSaid(cell: string, due: readonly number[]): readonly string[] {
  if (cell === 'nothing') return []
  if (cell === 'as before') return due.map(instantText)
  const newest = /^the newest (\d+)$/.exec(cell)?.[1]
  if (newest !== undefined) return due.slice(-Number(newest)).map(instantText)
  const first = /^from (\d\d:\d\d) on$/.exec(cell)?.[1]
  if (first !== undefined) return due.filter((at_ms) => at_ms >= at(first)).map(instantText)
  if (!/^\d\d:\d\d(?:, \d\d:\d\d)*$/.test(cell)) throw new Error(`The test does not understand what runs: ${cell}`)
  return clocksIn(cell).map((clock) => instantText(at(clock)))
}

type Row = ReturnType<ScheduleStory['ticks']>[number]

/** The row of a decision that counts, told as the page tells it; `due` says which instants are meant where it names none. */
function countedAs(cell: string, rows: readonly Row[]): string {
  const each = cell.endsWith(' each')
  const told = rows.map(({ skipped_count, skip_reasons }) =>
    Object.entries(skip_reasons ?? {}).map(
      ([reason, count]) => `${count}${count === skipped_count ? '' : ` of ${skipped_count}`} ${reason}`,
    ),
  )
  const counts = [...new Set(told.map((reasons) => reasons.join(', ')))].join(' and ')
  const clocks = rows.flatMap(({ first_scheduled_for, scheduled_for, skipped_count }) => {
    const first = first_scheduled_for ?? scheduled_for
    if (each) return [clockOf(scheduled_for)]
    return Array.from({ length: skipped_count ?? 0 }, (_, i) => clockOf(first + i * HOUR_MS))
  })
  const when = !cell.includes(': ')
    ? ''
    : cell.includes(' to ')
      ? `${clocks[0]} to ${clocks.at(-1)}: `
      : `${clocks.join(each ? ' and ' : ', ')}: `
  return `${when}${counts}${each ? ' each' : ''}`
}

describe('what was missed, on the page of schedules', () => {
  const rows = rowsBelow(pageText('schedules.md'), 'what happens', 'what runs', 'what is counted')

  test('has a row for each case, and a case for each row', () => {
    expect(rows.map(([happens]) => happens).sort()).toEqual(Object.keys(CASES).sort())
  })

  test.each(rows)('%s: %s runs, and of the rest is counted %s', (happens, runs, counted) => {
    const play = CASES[happens as string]
    if (play === undefined) throw new Error('The row has no case.')
    const { story, from, due } = play()
    const ticks = story.ticks().filter(({ scheduled_for }) => scheduled_for >= from)
    const skipped = ticks.filter(({ status }) => status === 'SKIPPED')
    const triggered = ticks.filter(({ status }) => status === 'TRIGGERED')
    expect(triggered.length + skipped.length).toBe(ticks.length)
    expect(triggered.map(({ scheduled_for }) => instantText(scheduled_for))).toEqual(runsSaid(runs as string, due))
    if (/^nothing\b/.test(counted as string)) expect(skipped).toEqual([])
    else expect(countedAs(counted as string, skipped)).toBe(counted)
    if ((counted as string).endsWith(' each')) expect(skipped.length).toBeGreaterThan(1)
  })
})
