// Runs dependency-cruiser on a tree, and plants a violation for every rule that it has.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { ROOT, runTool } from './tree.js'

type Rule = { readonly name: string; readonly comment: string }
type Cruise = {
  readonly modules: readonly { readonly source: string; readonly dependencies: readonly { readonly resolved: string }[] }[]
  readonly summary: {
    readonly violations: readonly { readonly from: string; readonly to: string; readonly rule: { readonly name: string } }[]
  }
}

const configuration = createRequire(import.meta.url)(join(ROOT, '.dependency-cruiser.cjs')) as {
  readonly forbidden: readonly Rule[]
  readonly MAY_IMPORT: Readonly<Record<string, readonly string[]>>
}

export const ruleNames = configuration.forbidden.map((rule) => rule.name)

export type Graph = {
  readonly modules: readonly string[]
  /** What each module imports, types as well. */
  readonly imports: ReadonlyMap<string, readonly string[]>
  readonly violations: readonly { readonly rule: string; readonly from: string; readonly to: string }[]
}

export async function cruise(cwd: string, folders: readonly string[]): Promise<Graph> {
  const { stdout, stderr } = await runTool(
    'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
    ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', ...folders],
    cwd,
  )
  if (!stdout.startsWith('{')) throw new Error(`dependency-cruiser answered no JSON: ${stdout}${stderr}`)
  const { modules, summary } = JSON.parse(stdout) as Cruise
  return {
    modules: modules.map((module) => module.source),
    imports: new Map(modules.map(({ source, dependencies }) => [source, dependencies.map(({ resolved }) => resolved)])),
    violations: summary.violations.map(({ from, to, rule }) => ({ rule: rule.name, from, to })),
  }
}

/** What a person, a script, a user's module or another process names. Every test file is one as well. */
export const ENTRIES = [
  'src/cli/main.ts',
  'src/bin/compare-thread.ts',
  'src/cli/local/dev/guard-main.ts',
  'src/sdk/index.ts',
  'src/workflows/index.ts',
  'src/sdk/typescript-hooks.ts',
  'src/workflows/index.ts',
  'bench/main.ts',
  'bench/growth/main.ts',
  'bench/plot/main.ts',
  'bench/soak/main.ts',
  'bench/truth/child.ts',
  'test/chaos/main.ts',
  'test/crash/main.ts',
  'test/recorded-workspaces/record.ts',
  'test/crash/local-steps-child.ts',
  'test/fixtures/loaded-modules.cjs',
  'test/fixtures/worker-child.ts',
  'test/fixtures/temporary-folder-child.ts',
  'test/mutants/main.ts',
  'test/oracle/main.ts',
  'test/replay/record.ts',
  'test/simulation/main.ts',
] as const

const isTestFile = (path: string): boolean => path.endsWith('.test.ts')

/** Modules to which no way leads from an entry or a test. The rule `no-orphans` sees only those that import nothing either. */
export function unreached({ modules, imports }: Graph): readonly string[] {
  const waiting = modules.filter((path) => ENTRIES.some((entry) => entry === path) || isTestFile(path))
  const reached = new Set(waiting)
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    for (const imported of imports.get(path) ?? []) {
      if (reached.has(imported)) continue
      reached.add(imported)
      waiting.push(imported)
    }
  }
  return modules.filter((path) => /^(src|test|bench)\//.test(path) && !reached.has(path))
}

export type Planted = { readonly rule: string; readonly path: string; readonly text: string }

const isFolder = (row: string): boolean => !row.includes('/') || row === 'cli/local'
const fileOf = (row: string, name: string): string => (isFolder(row) ? `src/${row}/${name}.ts` : `src/${row}.ts`)
const up = (path: string): string => '../'.repeat(path.split('/').length - 2)
const importOf = (from: string, to: string, form = 'import type'): string =>
  `${form} { target } from '${up(from)}${to.slice('src/'.length, -'.ts'.length)}.js'\n`

const TARGET = `export const target = 1\n`

/** Files that are there to be imported: one a row, and the single files that rows name. */
function targets(): Record<string, string> {
  const rows = Object.values(configuration.MAY_IMPORT)
    .flat()
    .filter((row) => row !== '*')
  const names = new Set([
    ...rows,
    ...Object.keys(configuration.MAY_IMPORT).filter(isFolder),
    'core/hash',
    'ledger/read',
    'storage/write-once',
  ])
  return Object.fromEntries([...names].map((row) => [fileOf(row, 'target'), TARGET]))
}

function plantedByTable(): Planted[] {
  return Object.entries(configuration.MAY_IMPORT)
    .filter(([, allowed]) => !allowed.includes('*'))
    .map(([row, allowed]) => {
      const foreign = ['sdk', 'turn', 'console'].find((other) => other !== row && !allowed.includes(other)) as string
      const path = fileOf(row, 'planted')
      return { rule: `may-import/${row}`, path, text: `${importOf(path, fileOf(foreign, 'target'))}export type Planted = typeof target\n` }
    })
}

const use = (path: string, text: string, rule: string): Planted => ({ rule, path, text: `${text}export const planted = target\n` })
const reserved = (path: string, to: string, rule: string): Planted => use(path, importOf(path, to, 'import'), rule)
const foreignPackage = (row: string): Planted => {
  const path = row.includes('/') ? `src/${row}.ts` : `src/${row}/planted-package.ts`
  return use(path, `import { target } from 'planted-package'\n`, `npm/${row}`)
}

/** Every rule with a file that breaks it. Two of them may break a row of the table as well. */
export const planted: readonly Planted[] = [
  ...plantedByTable(),
  reserved('src/workflows/planted-value.ts', 'src/activities/target.ts', 'as-types-only/workflows'),
  reserved('src/console/planted-value.ts', 'src/api/contract.ts', 'as-types-only/console'),
  reserved('src/compactor/planted-append.ts', 'src/ledger/append.ts', 'reserved/ledger/append'),
  reserved('src/commands/planted-read.ts', 'src/ledger/read.ts', 'reserved/ledger/read'),
  reserved('src/activities/planted-controller.ts', 'src/controllers/target.ts', 'reserved/controllers'),
  reserved('src/activities/planted-bin.ts', 'src/bin/target.ts', 'reserved/bin'),
  reserved('src/tables/planted-write.ts', 'src/storage/write-once.ts', 'reserved/storage/write-once'),
  foreignPackage('core'),
  foreignPackage('core/hash'),
  foreignPackage('core/cron/expression'),
  foreignPackage('events'),
  foreignPackage('partitions'),
  foreignPackage('projections'),
  foreignPackage('controllers'),
  foreignPackage('workflows'),
  use('src/commands/planted-tracer.ts', `import { target } from '@opentelemetry/api'\n`, 'npm/only-telemetry'),
  reserved('src/bin/planted-tracer.ts', 'src/telemetry/open-telemetry.ts', 'loaded-on-demand'),
  use('src/partitions/planted-node.ts', `import { readFileSync as target } from 'node:fs'\n`, 'node/pure'),
  use('src/core/hash.ts', `import { readFileSync as target } from 'node:fs'\n`, 'node/core/hash'),
  use('src/workflows/planted-node.ts', `import { createHash as target } from 'node:crypto'\n`, 'node/workflows'),
  { rule: 'no-cycles', path: 'src/events/one.ts', text: `import type { Two } from './two.js'\nexport type One = { readonly two: Two }\n` },
  { rule: 'no-orphans', path: 'src/tables/lonely.ts', text: TARGET },
  use('src/storage/planted-test.ts', `import { target } from '../../test/target.js'\n`, 'src-alone'),
  use('src/events/planted-test-import.ts', `import { target } from './first.test.js'\n`, 'no-test-import'),
  use('src/storage/planted-development.ts', `import { target } from 'planted-development'\n`, 'no-development-package'),
  use('src/storage/planted-missing.ts', `import { target } from './missing.js'\n`, 'resolvable'),
]

/** What the table allows must pass: a rule that is too strict would only be noticed by whoever needs the import. */
const allowedFiles = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(configuration.MAY_IMPORT)
      .filter(([row, allowed]) => isFolder(row) && allowed.length > 0 && !allowed.includes('*'))
      .map(([row, allowed]) => {
        const path = `src/${row}/allowed.ts`
        const sources = allowed.filter((other) => !RESERVED_FILES.includes(other) || MAY_USE_RESERVED.includes(row))
        const lines = sources.map((other, i) => importOf(path, fileOf(other, 'target')).replace('target }', `target as t${i} }`))
        return [path, `${lines.join('')}export type Allowed = [${sources.map((_, i) => `typeof t${i}`).join(', ')}]\n`]
      }),
  )

const RESERVED_FILES = ['ledger/append', 'controllers', 'bin/deps']
const MAY_USE_RESERVED = ['turn', 'commands', 'cli/local']

const packageFiles = (name: string): Record<string, string> => ({
  [`node_modules/${name}/package.json`]: JSON.stringify({ name, version: '1.0.0', type: 'module', main: 'index.js' }),
  [`node_modules/${name}/index.js`]: TARGET,
})

/** One file may break two rules (core/hash.ts does): its texts are put together. */
export function plantedFiles(): Record<string, string> {
  const files: Record<string, string> = {
    ...targets(),
    ...allowedFiles(),
    'test/target.ts': TARGET,
    'src/events/first.test.ts': TARGET,
    'src/telemetry/open-telemetry.ts': TARGET,
    'src/tables/island.ts': `import { target } from './mainland.js'\nexport const island = target\n`,
    'src/tables/mainland.ts': TARGET,
    'src/tables/mainland.test.ts': `import { target } from './mainland.js'\nexport const tested = target\n`,
    'src/events/two.ts': `import type { One } from './one.js'\nexport type Two = { readonly one: One }\n`,
    'package.json': JSON.stringify({
      dependencies: { 'planted-package': '1.0.0', '@opentelemetry/api': '1.0.0' },
      devDependencies: { 'planted-development': '1.0.0' },
    }),
    ...packageFiles('planted-package'),
    ...packageFiles('planted-development'),
    ...packageFiles('@opentelemetry/api'),
  }
  for (const { path, text } of planted) files[path] = `${files[path] === TARGET ? '' : (files[path] ?? '')}${text}`
  return files
}
