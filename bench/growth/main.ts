// `npm run growth [-- --measure] [--class-a $] [--class-b $] [--storage $]`: prints what a workspace grows to and costs on Google
// Cloud Storage. `--measure` measures the coefficients anew and writes them down first; prices are dollars a million calls and
// a GiB and month.

import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { commitOf } from '../../test/fixtures/commit.js'
import { measureCoefficients } from './measure.js'
import { COEFFICIENTS_FILE, readCoefficients, readPrices } from './recorded.js'
import { TABLES } from './tables.js'

const { values } = parseArgs({
  options: { measure: { type: 'boolean' }, 'class-a': { type: 'string' }, 'class-b': { type: 'string' }, storage: { type: 'string' } },
})

if (values.measure === true) {
  const recorded = { commit: commitOf(), command: 'npm run growth -- --measure', coefficients: await measureCoefficients() }
  writeFileSync(fileURLToPath(COEFFICIENTS_FILE), `${JSON.stringify(recorded, null, 2)}\n`)
}
const listed = readPrices()
const prices = {
  ...listed,
  class_a_million: Number(values['class-a'] ?? listed.class_a_million),
  class_b_million: Number(values['class-b'] ?? listed.class_b_million),
  storage_gib_month: Number(values.storage ?? listed.storage_gib_month),
}
for (const [name, table] of Object.entries(TABLES)) process.stdout.write(`${name}\n\n${table(readCoefficients(), prices)}\n\n`)
