// Whoever sees that something was mended finds what it means: an entry for every kind that is counted, and for no other. An
// entry has the same three parts as one of an alert rule.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { createAutomationMetrics, MENDED } from '../../src/telemetry/automation-metrics.js'
import { TALLIED } from '../../src/turn/watch.js'

const text = readFileSync(fileURLToPath(new URL('../../docs/operating.md', import.meta.url)), 'utf8')
const entriesOf = (title: string) => {
  const [, section = ''] = text.split(`## ${title}\n`)
  return [...(section.split(/^## /m)[0] ?? '').matchAll(/^### `(\w+)`\n([^]*?)(?=^### |(?![^]))/gm)]
}
const entries = entriesOf('When something was mended')

test('every kind of repair that is counted has an entry in docs/operating.md, and there is no other', async () => {
  const served = await createAutomationMetrics(TALLIED).text()
  const kinds = [...served.matchAll(/^servo_repairs_total\{kind="(\w+)"\} 0$/gm)].map(([, kind]) => kind)
  expect(kinds.toSorted()).toEqual([...MENDED].toSorted())
  expect(entries.map(([, kind]) => kind).toSorted()).toEqual(kinds.toSorted())
})

// Which rules have one is compared in test/metrics/queries.test.ts.
test.each(['When a rule fires', 'When something was mended'])(
  'an entry of "%s" says what is seen, where to look, and what to do',
  (title) => {
    expect(entriesOf(title).length).toBeGreaterThan(0)
    const lacking = entriesOf(title).flatMap(([, kind, entry = '']) =>
      ['*Symptom*: ', '*Look at*: ', '*Do*: ']
        .filter((part) => !entry.includes(`\n\n${part}`) && !entry.startsWith(`\n${part}`))
        .map((part) => `${kind}: ${part}`),
    )
    expect(lacking).toEqual([])
  },
)
