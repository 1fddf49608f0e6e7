// What a person runs while working: no server, half a minute.

import { pathToFileURL } from 'node:url'
import { setUp } from './set-up.js'
import { close, runSteps, suite, tool } from './steps.js'

/** The longest first: two run side by side. */
export const checkSteps = () => [
  tool('lint', ['node_modules/eslint/bin/eslint.js', 'src', 'test', 'bench']),
  tool('types', [
    'node_modules/typescript/bin/tsc',
    '-p',
    '.',
    '--incremental',
    '--tsBuildInfoFile',
    'node_modules/.cache/types.tsbuildinfo',
  ]),
  suite('unit', ['src/']),
  suite('tidy', ['test/tidy\\.test\\.ts$']),
  tool('graph', [
    'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
    '--config',
    '.dependency-cruiser.cjs',
    'src',
    'test',
    'bench',
  ]),
  tool('format', ['node_modules/@biomejs/biome/bin/biome', 'format', '.']),
]

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    await setUp({ only: ['dependencies'] })
    process.exitCode = close(await runSteps(checkSteps(), 2))
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}
