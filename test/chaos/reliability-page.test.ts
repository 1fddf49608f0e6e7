// docs/reliability.md: its promises name invariants and tests that there are, and the line of its last long run is one that
// `npm run chaos` prints, with a good verdict.

import { describe, expect, test } from '@jest/globals'
import { invariantsIn } from '../tidy/documents.js'
import { readText } from '../tidy/tree.js'
import { chaosReport, reportIn, withReport } from './report.js'

const text = readText('docs/reliability.md')
const page = readText('docs/invariants.md')
const invariants = new Map<string, string>(invariantsIn(page).map(({ number, proof }) => [`I${number}`, proof] as const))
const older = new Set([...page.matchAll(/^\| (INV-\d+) \|/gm)].map(([, number]) => number as string))

describe('the promises', () => {
  const rows = [...text.matchAll(/^\| (.+\.) \| ((?:I\d+|INV-\d+)(?:, I\d+)*|–) \| (.+) \|$/gm)].map(([, promise, numbers, shown]) => ({
    promise: promise as string,
    numbers: (numbers as string).split(', '),
    shown: shown as string,
  }))

  test('are sentences, with invariants that are proved', () => {
    expect(rows.length).toBeGreaterThanOrEqual(8)
    const isKnown = (number: string) => number === '–' || older.has(number) || /^`test\/invariants\//.test(invariants.get(number) ?? '')
    expect(rows.flatMap(({ numbers }) => numbers).filter((number) => !isKnown(number))).toEqual([])
  })

  test('name for every invariant of theirs its own test, or one that shows the promise itself', () => {
    const without = rows.filter(
      ({ numbers, shown }) =>
        !numbers.some((number) => shown.includes(invariants.get(number) ?? 'none')) && !/`(?:src|test\/(?:chaos|system))\//.test(shown),
    )
    expect(without).toEqual([])
  })
})

describe('the last long run', () => {
  const report = reportIn(text)

  test('was one of ten minutes with 500 runs, and good', () => {
    expect(report).toMatchObject({
      minutes: 10,
      runs: 500,
      store: 'gcs',
      verdict: 'good',
      problems: [],
      replay_equal: true,
      verify_clean: true,
    })
  })

  test('was of a commit, and killed and stopped every sort of process', () => {
    expect(report?.commit).toMatch(/^[0-9a-f]{7,40}$/)
    for (const kind of ['worker', 'api', 'automation', 'temporal']) expect(report?.kills[kind]).toBeGreaterThan(0)
    for (const kind of ['worker', 'api', 'automation', 'temporal', 'store']) expect(report?.stops[kind]).toBeGreaterThan(0)
    expect(Object.values(report?.proxy_faults ?? {}).every((count) => count > 0)).toBe(true)
  })

  test('has its command on the page, with its seed', () => {
    expect(text).toContain(`npm run chaos -- --minutes ${report?.minutes} --seed ${report?.seed} --report docs/reliability.md`)
  })

  test('has a meaning for each member, and for no other', () => {
    const explained = [...text.matchAll(/^\| ((?:`\w+`(?:, )?)+) \| /gm)].flatMap(([, names]) => (names as string).match(/\w+/g) ?? [])
    expect(explained.sort()).toEqual(Object.keys(chaosReport.shape).sort())
  })

  test('is replaced as a whole by the next one, and a page without a place for it is refused', () => {
    if (report === undefined) throw new Error('There is no report.')
    const next = { ...report, seed: 99 }
    expect(reportIn(withReport(text, next))).toEqual(next)
    expect(withReport(withReport(text, next), report)).toBe(text)
    expect(() => withReport('# A page', report)).toThrow('has no block')
    expect(reportIn('# A page')).toBeUndefined()
  })
})
