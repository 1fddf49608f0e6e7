// `node scripts/run.js FILE.ts ARGUMENTS`: runs a TypeScript entry of this repository in this very process, so that
// signals, memory and exit code are its own.

import { pathToFileURL } from 'node:url'
import { setUp } from './set-up.js'

const [entry, ...args] = process.argv.slice(2)
if (entry === undefined) {
  process.stderr.write('Say which file to run: node scripts/run.js FILE.ts ARGUMENTS\n')
  process.exit(2)
}
// What an entry prints may be for programs, so the progress of a set-up goes to stderr.
await setUp({ say: (line) => process.stderr.write(`${line}\n`), only: ['dependencies'] })
await import('./typescript.js')
process.argv = [process.execPath, entry, ...args]
await import(pathToFileURL(entry).href)
