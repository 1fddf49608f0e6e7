// Modules are loaded in a process of their own, as a command does it: jest has a loader of its own.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { LoadOptions } from '../../src/sdk/load.js'
import { compileTo } from '../fixtures/compiled.js'
import { runProcess } from '../tidy/tree.js'

const TIMEOUT_MS = 60_000
/** What the oldest Node that is supported does not do yet. */
const NODE_20_15 = ['--no-experimental-detect-module', '--no-experimental-require-module']
const SDK = `import { asset } from 'servo/src/sdk/asset.js'\nimport { defineCodeLocation } from 'servo/src/sdk/code-location.js'\n`
const EVENTS = `export const events = asset({ key: 'raw.events', deps: [], run: () => ({ row_count: 3 }) })\n`
const LOCATION = `export const analytics = defineCodeLocation({ name: 'analytics', assets: [events] })\n`

/** Loads what it is told, and prints what came of it: JSON, or the message. */
const MAIN = `
import { loadCodeLocation } from 'servo/src/sdk/load.js'
import { describeLocation } from 'servo/src/sdk/definition.js'
const [path, errors] = process.argv.slice(2)
try {
  const location = await loadCodeLocation(path, errors === undefined ? {} : { errors })
  const result = await location.assets[0].run({})
  console.log(JSON.stringify({ ...describeLocation(location), result: result ?? null }))
} catch (error) {
  console.log(error.name + ': ' + error.message)
}
`

let folder = ''
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'servo-load-')))
  await compileTo(join(folder, 'servo'), ['src/core', 'src/core/cron', 'src/partitions', 'src/partitions/mapping', 'src/sdk'])
}, TIMEOUT_MS)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let projects = 0
/** What loading `path` prints, in a project with these files. */
async function loaded(
  files: Readonly<Record<string, string>>,
  path: string,
  options: LoadOptions & { readonly node?: readonly string[]; readonly package?: 'linked' | 'none' } = {},
): Promise<string> {
  const project = join(folder, `project-${++projects}`)
  const manifest = { type: 'module' }
  const isLinked = options.package !== 'none'
  const main = isLinked ? MAIN : MAIN.replaceAll("'servo/", "'../servo/")
  const all = { 'package.json': JSON.stringify(manifest), 'main.js': main, ...files }
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(project, name)), { recursive: true })
    writeFileSync(join(project, name), text)
  }
  if (isLinked) {
    mkdirSync(join(project, 'node_modules'))
    symlinkSync(join(folder, 'servo'), join(project, 'node_modules/servo'))
  }
  const { node = [], errors } = options
  const { stdout, stderr } = await runProcess([...node, 'main.js', path, ...(errors === undefined ? [] : [errors])], project)
  return `${stdout}${stderr}`.trimEnd().replaceAll(`${project}/`, '')
}

describe('a location is found', () => {
  test.each([
    ['module.ts', `${SDK}${EVENTS}const name: string = 'analytics'\nexport default defineCodeLocation({ name, assets: [events] })\n`],
    ['module.mts', `${SDK}${EVENTS}${LOCATION}`],
    ['module.js', `${SDK}${EVENTS}${LOCATION}`],
    ['module.mjs', `${SDK}${EVENTS}${LOCATION}export { analytics as default }\n`],
  ])(
    'in %s',
    async (name, text) => {
      const location = JSON.parse(await loaded({ [name]: text }, `./${name}`)) as object
      expect(location).toMatchObject({ location_name: 'analytics', assets: [{ asset_key: 'raw.events' }], result: { row_count: 3 } })
    },
    TIMEOUT_MS,
  )

  test(
    'where sources import each other by either ending, types among them',
    async () => {
      const files = {
        'module.ts': `${SDK}import { events } from './assets/events.js'\nimport type { Name } from './name.ts'\nimport { NAME } from './name.ts'\nconst name: Name = NAME\nexport default defineCodeLocation({ name, assets: [events] })\n`,
        'assets/events.ts': `${SDK}${EVENTS}`,
        'name.ts': `export type Name = 'analytics'\nexport const NAME: Name = 'analytics'\n`,
      }
      expect(await loaded(files, 'module.ts')).toContain('"location_name":"analytics"')
    },
    TIMEOUT_MS,
  )
})

describe('a project without the package', () => {
  const ENTRY = `import { asset, defineCodeLocation } from 'servo'\n`
  const location = (name: string): string => `${ENTRY}${EVENTS}export default defineCodeLocation({ name: '${name}', assets: [events] })\n`
  const bare = (files: Readonly<Record<string, string>>, path: string) => loaded(files, path, { package: 'none' })

  test.each(['module.ts', 'module.mts', 'module.js', 'module.mjs'])(
    'is given the one of the installation that loads it: %s',
    async (name) => {
      expect(JSON.parse(await bare({ [name]: location('analytics') }, name))).toMatchObject({ location_name: 'analytics' })
    },
    TIMEOUT_MS,
  )

  test(
    'is told of any other package that is not there',
    async () => {
      expect(await bare(module(`import 'servo-extra'\n`), 'module.ts')).toContain(
        "Cannot find package 'servo-extra' imported from module.ts",
      )
    },
    TIMEOUT_MS,
  )

  test(
    'gets its own as soon as it has one',
    async () => {
      const own = {
        'node_modules/servo/package.json': '{"type":"module","exports":"./index.js"}',
        'node_modules/servo/index.js': 'export const other = 1\n',
      }
      expect(await bare({ ...own, 'module.ts': location('analytics') }, 'module.ts')).toContain(
        "'servo' does not provide an export named 'asset'",
      )
    },
    TIMEOUT_MS,
  )
})

const module = (text: string) => ({ 'module.ts': text })

describe('what is wrong is said in one message', () => {
  test.each([
    [
      'no file',
      module(LOCATION),
      'modul.ts',
      'LoadError: modul.ts was not found. Give the path of a module, such as ./module.ts. Did you mean module.ts?',
    ],
    ['no folder', {}, 'a/b/module.ts', 'LoadError: a/b/module.ts was not found. Give the path of a module, such as ./module.ts.'],
    ['a folder', { 'a/module.ts': '' }, 'a', 'LoadError: a is a folder. Give the path of a module in it, such as a/module.ts.'],
    ['another file', { 'module.py': '' }, 'module.py', 'LoadError: module.py is no module. Give a file that ends in .ts, .mts, .js, .mjs.'],
    [
      'TypeScript that is none',
      module(`${EVENTS}\nconst x: = 1\n`),
      'module.ts',
      'LoadError: module.ts could not be loaded: module.ts:3: Unexpected token `=`.',
    ],
    [
      'an import that is no TypeScript',
      { ...module(`import './a.js'\n`), 'a.ts': '\n\nconst x = ;\n' },
      'module.ts',
      'LoadError: module.ts could not be loaded: a.ts:3: Expression expected. Mend this line.',
    ],
    [
      'JavaScript that is none',
      { 'module.js': '\nconst x = ;\n' },
      'module.js',
      "LoadError: module.js could not be loaded: module.js:2: Unexpected token ';'. Mend this line.",
    ],
    [
      'an import that ends too soon, by another one',
      {
        'module.js': `import { b } from './lib/b.js'\n`,
        'lib/b.js': `export { a as b } from './a.mjs'\n`,
        'lib/a.mjs': 'export const a = 1\n\nconst x = {\n',
      },
      'module.js',
      'LoadError: module.js could not be loaded: lib/a.mjs:3: Unexpected end of input. Mend this line.',
    ],
    [
      'an import that is not there',
      module(`import { x } from './a.ts'\n`),
      'module.ts',
      "LoadError: module.ts could not be loaded: Cannot find module 'a.ts' imported from module.ts",
    ],
    [
      'a name that is not there',
      { ...module(`import { x } from './a.ts'\n`), 'a.ts': 'export const y = 1\n' },
      'module.ts',
      "The requested module './a.ts' does not provide an export named 'x'",
    ],
    ['an exception', module(`throw new Error('no database')\n`), 'module.ts', 'LoadError: module.ts could not be loaded: no database'],
    [
      'something thrown that is no error',
      module(`throw 'no database'\n`),
      'module.ts',
      'LoadError: module.ts could not be loaded: no database',
    ],
    [
      'an asset that is wrong',
      module(`${SDK}asset({ key: 'a b', deps: [] })\n`),
      'module.ts',
      'LoadError: module.ts could not be loaded: asset "a b" has 2 faults:\n  - key is "a b".',
    ],
    [
      'no location',
      module(`${SDK}export const x = 1\n`),
      'module.ts',
      'LoadError: module.ts exports no code location. Write `export default defineCodeLocation({ name: …, assets: […] })`.',
    ],
    [
      'assets alone',
      module(`${SDK}${EVENTS}`),
      'module.ts',
      'LoadError: module.ts exports no code location. It exports the assets events: list them in one.',
    ],
    [
      'several locations',
      module(`${SDK}${EVENTS}${LOCATION}export default defineCodeLocation({ name: 'b', assets: [] })\n`),
      'module.ts',
      'LoadError: module.ts exports 2 code locations: analytics, default. Export one; a second one is a module of its own.',
    ],
  ])(
    '%s',
    async (_, files, path, message) => {
      const said = await loaded(files, path)
      expect(said).toContain(message)
      expect(said).not.toMatch(/^\s+at /m)
    },
    TIMEOUT_MS,
  )

  test(
    'a package of CommonJS, where Node does not look at the text',
    async () => {
      const files = { 'a/package.json': '{}', 'a/module.js': `import 'node:fs'\n` }
      expect(await loaded(files, 'a/module.js', { node: NODE_20_15 })).toContain(
        'LoadError: a/module.js could not be loaded: Node takes it for CommonJS. Put "type": "module" into its package.json, or name it module.mjs.',
      )
    },
    TIMEOUT_MS,
  )

  test(
    'with a stack where it is asked for, which shows the line as it was written',
    async () => {
      const text = `type Long = {\n  a: string\n  b: string\n}\nthrow new Error('no database')\n`
      expect(await loaded(module(text), 'module.ts', { errors: 'stack' })).toMatch(
        /could not be loaded: no database\n(.*\n)*\s+at .*module\.ts:5:7/,
      )
    },
    TIMEOUT_MS,
  )
})
