// What `import … from 'servo'` means in a project that has the package as a dependency: for Node, and for the compiler,
// which reads declarations there and not these sources.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createPackageProject, type PackageProject } from '../fixtures/package-project.js'
import { runProcess, runTool } from '../tidy/tree.js'

const TIMEOUT_MS = 120_000
const MODULE = `import { asset, daily, defineCodeLocation, type RunContext, staticPartitions } from 'servo'

const days = daily({ start_date: '2025-01-01' })
export const orders = asset({ key: 'shop.orders', deps: [], partitions: days, run: () => ({ row_count: 3 }) })
export const regions = asset({
  key: 'shop.regions',
  deps: [orders, 'shop.products'],
  partitions: staticPartitions(['europe', 'asia']),
  run: ({ upstream, partitions }) => {
    const first: 'europe' | 'asia' = partitions.keys[0]
    return { first, count: upstream['shop.orders'].length + upstream['shop.products'].length }
  },
})
export const first = ({ partitions }: RunContext<string, typeof days>): string => partitions.keys[0]
export default defineCodeLocation({ name: 'shop', assets: [orders, regions] })
`
/** Each with what the compiler says of it. */
const WRONG = [
  [
    'a dependency that is none',
    `asset({ key: 'a', deps: ['shop.orders'], run: ({ upstream }) => ({ n: upstream['shop.order'].length }) })`,
    /Property 'shop\.order' does not exist/,
  ],
  [
    'the key of no partition',
    `asset({ key: 'a', deps: [], partitions: staticPartitions(['europe']), run: ({ partitions }) => void (partitions.keys[0] === 'asia') })`,
    /types '"europe"' and '"asia"' have no overlap/,
  ],
  [
    'partitions that it has not',
    `asset({ key: 'a', deps: [], run: ({ partitions }) => void partitions.keys })`,
    /'partitions' is possibly/,
  ],
  ['a name that is not there', `import { startWorker } from 'servo'\nvoid startWorker`, /has no exported member 'startWorker'/],
  ['a way around the entry', `import { x } from 'servo/dist/sdk/worker/worker.js'\nvoid x`, /Cannot find module 'servo\/dist/],
] as const

let project: PackageProject | undefined
beforeAll(async () => {
  const files = {
    // Stricter than the options of the package's own sources, and with less of a library; `dom` stands for the types of Node, which have AbortSignal too.
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        target: 'es2022',
        lib: ['es2022', 'dom'],
        module: 'nodenext',
        strict: true,
        noEmit: true,
        noPropertyAccessFromIndexSignature: true,
        types: [],
      },
    }),
    'module.ts': MODULE,
    'main.js': `import { loadCodeLocation } from '../servo/dist/sdk/load.js'\nconst { name, assets } = await loadCodeLocation('module.ts')\nconsole.log(name, ...assets.map(({ key }) => key))\n`,
    ...Object.fromEntries(
      WRONG.map(([, text], i) => [
        `wrong-${i}.ts`,
        `import { asset, staticPartitions } from 'servo'\n${text}\nvoid asset, staticPartitions\n`,
      ]),
    ),
  }
  project = await createPackageProject(files)
}, TIMEOUT_MS)
afterAll(() => project?.remove())
const folder = () => (project as PackageProject).folder

test(
  'a module is loaded, and its assets are those of the loader',
  async () => {
    const { stdout, stderr } = await runProcess(['main.js'], folder())
    expect(`${stdout}${stderr}`).toBe('shop shop.orders shop.regions\n')
  },
  TIMEOUT_MS,
)

describe('the compiler', () => {
  let said: readonly string[] = []
  beforeAll(async () => {
    said = (await runTool('node_modules/typescript/bin/tsc', ['-p', '.', '--pretty', 'false'], folder())).stdout.split('\n')
  }, TIMEOUT_MS)
  const saidOf = (name: string) => said.filter((line) => line.startsWith(name)).join('\n')

  test('finds nothing wrong with what is right, nor with the declarations', () => {
    expect(said.filter((line) => line !== '' && !line.startsWith('wrong-') && !line.startsWith(' '))).toEqual([])
  })

  test.each(WRONG.map(([what, , message], i) => ({ what, message, name: `wrong-${i}.ts` })))('refuses $what', ({ name, message }) => {
    expect(saidOf(name)).toMatch(message)
  })
})
