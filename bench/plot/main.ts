// `npm run plots`: draws docs/plots/flat-line.svg from the figures beside it, and prints the table that docs/performance.md has.
// A soak draws its own plot (`npm run soak -- --plot`).

import { readFileSync, writeFileSync } from 'node:fs'
import { flatLinePlot, flatLineSchema, flatLineTable } from './flat-line.js'

const PLOTS = new URL('../../docs/plots/', import.meta.url)

const flatLine = flatLineSchema.parse(JSON.parse(readFileSync(new URL('flat-line.json', PLOTS), 'utf8')))
writeFileSync(new URL('flat-line.svg', PLOTS), flatLinePlot(flatLine))
process.stdout.write(`${flatLineTable(flatLine)}\n`)
