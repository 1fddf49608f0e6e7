// Guards of the rule for changes of the clocks: the oracle has to see each of them go.

import type { Mutant } from './mutant.js'

const PIECES = 'src/core/cron/pieces.ts'

const oracle = (zone: string, year: number) => ({
  file: 'test/oracle/main.ts',
  args: ['--zones', zone, '--from-year', String(year), '--years', '1', '--expressions', '25'],
  says: 'To run it again: npm run oracle',
})

export const CRON: readonly Mutant[] = [
  {
    name: 'instants of a date that a zone skipped whole',
    edits: [{ file: PIECES, find: 'if (first_whole_ms >= last_whole_ms) return', replace: 'return' }],
    killed_by: oracle('Pacific/Apia', 2011),
  },
  {
    name: 'a fixed time that comes twice fired on both passes',
    edits: [{ file: PIECES, find: 'Math.min(to_ms, again_ms)', replace: 'to_ms' }],
    killed_by: oracle('America/New_York', 2025),
  },
  {
    name: 'the end of a gap fired beside the instants that it has of its own',
    edits: [{ file: PIECES, find: 'i === 0 && !hasAtStart(part)', replace: 'i === 0' }],
    killed_by: oracle('America/New_York', 2025),
  },
  {
    name: 'an expression of every hour taken for fixed times',
    edits: [{ file: PIECES, find: 'hours.length === 24', replace: 'hours.length > 24' }],
    killed_by: oracle('Australia/Lord_Howe', 2025),
  },
]
