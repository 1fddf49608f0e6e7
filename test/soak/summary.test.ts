// What a soak comes to, and its picture, from samples that are made up: a line that is flat, and one that is not.

import { describe, expect, test } from '@jest/globals'
import { forecastOf } from '../../bench/soak/forecast.js'
import { soakPlot } from '../../bench/soak/plot.js'
import { readSoak } from '../../bench/soak/result.js'
import { PROCESSES, type Sample } from '../../bench/soak/sample.js'
import { summaryOf } from '../../bench/soak/summary.js'

const MINUTES = 30
const EVERY_S = 5
const RATE = 300

type Course = (at_s: number) => number
const flat: Course = () => 50

/** Of a soak whose turns take this long; one that is far off, now and then, is no drift. */
function samplesOf(turn_ms: Course, rss_mb: Course = () => 400): Sample[] {
  const all = (value: number) => Object.fromEntries(PROCESSES.map((name) => [name, value])) as Sample['rss_mb']
  return Array.from({ length: (MINUTES * 60) / EVERY_S + 1 }, (_, i): Sample => {
    const at_s = (i + 1) * EVERY_S
    return {
      at_s,
      rss_mb: all(rss_mb(at_s)),
      cpu_s: all(at_s * 0.25),
      heap_mb: 100,
      turn_ms: i % 10 === 0 ? 1_000 : turn_ms(at_s),
      turns: 20,
      publishes: at_s * 4,
      events: at_s * RATE,
      lag_ms: i === 0 ? null : 40,
      runs_asked: at_s,
      runs_over: at_s,
      tasks_over: at_s * 20,
      open_tasks: 0,
      objects: {
        l0: { count: at_s * 32, bytes: at_s },
        segments: { count: at_s, bytes: at_s },
        checkpoints: { count: at_s / 16, bytes: at_s },
      },
    }
  }).map((sample) => ({ ...sample, objects: { ...NO_OBJECTS, ...sample.objects } }))
}

const NO_OBJECTS = Object.fromEntries(
  ['segments', 'packs', 'revisions', 'checkpoints', 'chain', 'l0', 'base', 'starts', 'claims', 'other'].map((kind) => [
    kind,
    { count: 0, bytes: 0 },
  ]),
)

const FACTS = { commit: 'abcdef0', minutes: MINUTES, events_per_s: RATE, runs: 1_000, request_failures: 0, drain_s: 1 }

describe('the summary', () => {
  test('of a flat line has no drift', () => {
    const summary = summaryOf(samplesOf(flat), FACTS)
    expect(summary).toMatchObject({ soak_turn_drift: 1, turn_first_ms: 50, warm_up_s: 420, window_s: 300, lag_median_ms: 40 })
    expect(summary.events_per_s).toBeCloseTo(RATE)
    expect(summary.publishes_per_s).toBeCloseTo(4)
    expect(summary.cores.automation).toBeCloseTo(0.25)
    expect(summary.files_per_million_events).toBeCloseTo((33.0625 / RATE) * 1e6)
  })

  test('of one that rises by a tenth in ten minutes tells it, and so of memory', () => {
    const rising: Course = (at_s) => 50 * (1 + at_s / 6_000)
    const summary = summaryOf(samplesOf(rising, rising), FACTS)
    expect(summary.soak_turn_drift).toBeGreaterThan(1.15)
    expect(summary.soak_rss_drift.api).toBeGreaterThan(1.15)
    expect(summary.rss_peak_mb.api).toBeGreaterThan(summary.rss_last_mb.api)
  })

  test('leaves out what is before the minutes of a turn are all filled', () => {
    const filling: Course = (at_s) => (at_s < 420 ? at_s : 50)
    expect(summaryOf(samplesOf(filling), FACTS).soak_turn_drift).toBe(1)
  })

  test('of a soak that ended early is refused', () => {
    expect(() => summaryOf(samplesOf(flat).slice(0, 3), FACTS)).toThrow('too few samples')
  })
})

describe('the picture', () => {
  const samples = samplesOf(flat)
  const summary = summaryOf(samples, FACTS)

  test('is made from the file alone, and has every process and kind', () => {
    const text = [...samples, summary].map((line) => JSON.stringify(line)).join('\n')
    const plot = soakPlot(readSoak(text))
    expect(plot).toBe(soakPlot({ samples, summary }))
    for (const word of [...PROCESSES, 'l0', 'segments', 'milliseconds', 'MB', 'minutes']) expect(plot).toContain(`>${word}<`)
    expect(plot).toContain('prefers-color-scheme: dark')
    expect(plot).not.toMatch(/NaN|undefined|Infinity/)
  })

  test('of a file without its last line is refused', () => {
    expect(() => readSoak(JSON.stringify(samples[0]))).toThrow('no summary of a soak')
  })
})

describe('what the files come to if it went on', () => {
  const samples = samplesOf(flat)
  const { expected, measured } = forecastOf({ samples, summary: summaryOf(samples, FACTS) })
  const at = (kind: Parameters<typeof expected>[0], minutes: number) =>
    expected(kind).find(([at_minutes]) => at_minutes >= minutes)?.[1] ?? 0

  test('begins where the measured files end', () => {
    for (const kind of ['l0', 'segments', 'checkpoints'] as const) {
      const [minutes, count] = measured(kind).at(-1) as [number, number]
      const [expected_at, expected_count] = expected(kind).find(([at_minutes]) => at_minutes >= minutes) as [number, number]
      expect((expected_count * minutes) / expected_at / count).toBeCloseTo(1, 1)
    }
  })

  test('turns flat for what is collected and packed, and not for what is kept', () => {
    const [day, month, year] = [1_440, 43_200, 525_000] as const
    expect(at('segments', year)).toBeLessThan(at('segments', day) * 1.1)
    expect(at('l0', year)).toBeLessThan(at('l0', month) * 1.01)
    expect(at('checkpoints', year)).toBeLessThan(at('checkpoints', month) * 1.01)
    expect(at('packs', year)).toBeGreaterThan(at('packs', month) * 10)
  })
})
