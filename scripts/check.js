// What a person runs while working: no server, less than a minute.

import { pathToFileURL } from 'node:url'
import { setUp } from './set-up.js'
import { ANY, close, runSteps, suite, tool } from './steps.js'

/** The longest first: two run side by side. The dependency graph is read by the tidy test. */
export const checkSteps = () => [
  tool('lint, types', ['scripts/lint-and-types.js']),
  suite('tidy, graph', ['test/tidy\\.test\\.ts$']),
  suite('unit', ['src/']),
  tool('format', ['node_modules/@biomejs/biome/bin/biome', 'format', '.']),
]

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    await setUp({ only: ['dependencies'] })
    process.exitCode = close(await runSteps(checkSteps(), [ANY, ANY]))
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}
