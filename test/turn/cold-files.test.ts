// The files that a question needs: without the others, what fits it is the same, and of old rows most files are others.

import { expect, test } from '@jest/globals'
import { type LooseRow, TABLE_NAMES, type TableName, tableNamed } from '../../src/projections/tables.js'
import { createReader } from '../../src/readers/reader.js'
import type { FileAt } from '../../src/tables/cold/files-at.js'
import { rowFilter } from '../../src/tables/condition.js'
import type { Condition } from '../../src/tables/table-files.js'
import { coldStory, tellColdStory } from '../fixtures/cold-story.js'
import { createRandom } from '../fixtures/random.js'

const QUESTIONS = 40
const TIMEOUT_MS = 120_000

/** What a statement may ask: a key, a span of time, a state; of rows that are there. */
function questionOf(table: TableName, rows: readonly LooseRow[], random: ReturnType<typeof createRandom>): Condition[] {
  const { cold, columns } = tableNamed(table)
  const some = () => rows[random.below(rows.length)] as LooseRow
  const where: Condition[] = []
  if (random.isTrue(0.5) && cold !== undefined) where.push({ column: cold.found_by, is: '=', value: String(some()[cold.found_by]) })
  for (const [column, { type }] of Object.entries(columns)) {
    const value = some()[column]
    if (type === 'timestamp' && typeof value === 'number' && random.isTrue(0.2))
      where.push({ column, is: random.isTrue(0.5) ? '>=' : '<', value })
    if (column === 'state' && typeof value === 'string' && random.isTrue(0.5)) where.push({ column, is: '=', value })
  }
  return where
}

test.each([1, 2])(
  'seed %i: hold every row that fits',
  async (seed) => {
    const { world } = await tellColdStory(coldStory(seed, 6), { seed })
    const random = createRandom(`questions/${seed}`)
    const view = await createReader({ store: world.bucket, files: world.files }).latest()
    if (view === undefined) throw new Error('Nothing was published.')
    const rowsIn = async (table: TableName, files: readonly FileAt[]) => {
      const rows: LooseRow[] = []
      for await (const batch of world.files.stream(table, files)) rows.push(...batch)
      return rows
    }
    let left_out = 0
    for (const table of TABLE_NAMES.filter((name) => view.snapshot.checkpoint.cold.has(name))) {
      const all = await view.files(table)
      const rows = await rowsIn(table, all)
      for (let question = 0; question < QUESTIONS; question++) {
        const where = questionOf(table, rows, random)
        const files = await view.files(table, where)
        const fits = rowFilter(table, where)
        expect([seed, where, (await rowsIn(table, files)).filter(fits)]).toEqual([seed, where, rows.filter(fits)])
        left_out += all.length - files.length
      }
    }
    expect(left_out).toBeGreaterThan(10)
  },
  TIMEOUT_MS,
)
