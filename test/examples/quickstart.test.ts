// The quickstart in a checkout of its own, loaded as a command loads it, in a process of its own: `import … from 'servo'`
// is there the checkout's own package. Each asset's code is given what a worker would give it.

import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { UpstreamMaterialization } from '../../src/sdk/context.js'
import type { DescribedLocation } from '../../src/sdk/definition.js'
import { buildPackage } from '../fixtures/built-package.js'
import { createPlanStory, tasksIn } from '../fixtures/plan-story.js'
import { ROOT, runProcess, runTool } from '../tidy/tree.js'

const TIMEOUT_MS = 120_000
const DAYS = ['2025-01-01', '2025-01-02', '2025-01-03', '2025-01-04', '2025-01-05']

const MAIN = `
import { runPartitions } from './dist/sdk/context.js'
import { describeLocation } from './dist/sdk/definition.js'
import { loadCodeLocation } from './dist/sdk/load.js'
const location = await loadCodeLocation('examples/quickstart/pipeline.ts')
const ran = []
for (const { asset_key, partition_keys, upstream, aborted } of JSON.parse(process.argv[2])) {
  const { definition, run } = location.assets.find(({ key }) => key === asset_key)
  const said = { lines: [], progress: [] }
  const line = (level) => (message, fields) => said.lines.push([level, message, fields ?? {}])
  const context = {
    run_id: 'run_1', asset_key, attempt: 1, attempt_id: 'attempt-1', upstream,
    partitions: runPartitions(definition.partitions, partition_keys),
    logger: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
    signal: aborted ? AbortSignal.abort(new Error('stopped')) : new AbortController().signal,
    heartbeat: (progress) => said.progress.push(progress),
  }
  ran.push({ ...said, ...(await run(context).then((result) => ({ result }), (e) => ({ error: e.message, retryable: e.retryable }))) })
}
console.log(JSON.stringify({ location: describeLocation(location), ran }))
`

const REVENUE = 'product_id,quantity,revenue'
const REPORT = 'day,revenue,best_product'
const REPORT_LINES = [
  '2025-01-01,149.60,strainer',
  '2025-01-02,311.30,teapot',
  '2025-01-03,182.70,mug',
  '2025-01-04,238.20,teapot',
  '2025-01-05,258.20,teapot',
]
/** Lines of the raw orders as they stand there. */
const MALFORMED: Readonly<Record<string, readonly string[]>> = {
  '2025-01-01': ['1003,mug,,DE'],
  '2025-01-03': ['1024,teapot,two,FR', '1025;green-tea;1;DE'],
  '2025-01-04': ['1030,mug,-1,DE'],
  '2025-01-05': ['1038,black-tea'],
}
const csv = (...lines: readonly string[]): string => `${lines.join('\n')}\n`

function withoutMalformed(day: string): string {
  const lines = readFileSync(join(ROOT, `examples/quickstart/data/orders/${day}.csv`), 'utf8')
    .trimEnd()
    .split('\n')
  const malformed = MALFORMED[day] ?? []
  expect(lines).toEqual(expect.arrayContaining([...malformed]))
  return csv(...lines.filter((line) => !malformed.includes(line)))
}

type Step = {
  readonly asset_key: string
  readonly partition_keys?: readonly string[]
  readonly upstream?: Readonly<Record<string, readonly UpstreamMaterialization[]>>
  readonly aborted?: boolean
}
type Ran = {
  readonly result?: unknown
  readonly error?: string
  readonly retryable?: boolean
  readonly lines: readonly unknown[]
  readonly progress: readonly unknown[]
}

const materialized = (partition_key: string): UpstreamMaterialization => ({
  partition_key,
  materialization_id: `materialization-of-${partition_key}`,
  materialized_at: '2025-01-06T00:00:00.000Z',
  code_version: '1',
  data_version: null,
  // What a task with many partitions is given: code that needs metadata here would fail on such a day.
  metadata: null,
})

const stepsOf = (days: readonly string[]): readonly Step[] => [
  { asset_key: 'shop.products' },
  { asset_key: 'shop.orders', partition_keys: days },
  {
    asset_key: 'shop.daily_revenue',
    partition_keys: days,
    upstream: { 'shop.products': [materialized('')], 'shop.orders': days.map(materialized) },
  },
  { asset_key: 'shop.report', upstream: { 'shop.daily_revenue': days.map(materialized) } },
]

const folders: string[] = []
const newFolder = (): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'servo-quickstart-')))
  folders.push(folder)
  return folder
}
let checkout = ''

async function run(
  steps: readonly Step[],
  output: string,
): Promise<{ readonly location: DescribedLocation; readonly ran: readonly Ran[] }> {
  const given = JSON.stringify(steps.map((step) => ({ partition_keys: [], upstream: {}, ...step })))
  const { stdout, stderr } = await runProcess(['main.js', given], checkout, { ...process.env, SERVO_QUICKSTART_OUTPUT: output })
  if (!stdout.startsWith('{')) throw new Error(`${stdout}${stderr}`)
  return JSON.parse(stdout.replaceAll(`${output}/`, '')) as Awaited<ReturnType<typeof run>>
}

const filesIn = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.includes('.'))
      .sort()
      .map((path) => [path, readFileSync(join(folder, path), 'utf8')]),
  )

beforeAll(async () => {
  checkout = newFolder()
  await buildPackage(checkout)
  cpSync(join(ROOT, 'examples/quickstart'), join(checkout, 'examples/quickstart'), { recursive: true })
  writeFileSync(join(checkout, 'main.js'), MAIN)
}, TIMEOUT_MS)
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

describe('five days', () => {
  let output = ''
  let location: DescribedLocation
  let ran: readonly Ran[]
  beforeAll(async () => {
    output = newFolder()
    ;({ location, ran } = await run(stepsOf(DAYS), output))
  }, TIMEOUT_MS)

  test('are planned as one task an asset, with all of its days', () => {
    const definitions = Object.fromEntries(location.assets.map(({ asset_key, definition }) => [asset_key, definition]))
    const range = { start: '2025-01-01', end: '2025-01-05' }
    const plan = createPlanStory(definitions).plan({ partitions: { range } })
    expect(tasksIn(plan)).toEqual([
      'shop.orders',
      'shop.products',
      'shop.daily_revenue after shop.orders shop.products',
      'shop.report after shop.daily_revenue',
    ])
  })

  test('leave these files', () => {
    expect(filesIn(output)).toEqual({
      'products.csv': csv(
        'product_id,name,price',
        'mug,Mug,12.50',
        'teapot,Teapot,39.00',
        'green-tea,Green tea 100 g,8.90',
        'black-tea,Black tea 100 g,7.40',
        'strainer,Strainer,5.20',
      ),
      ...Object.fromEntries(DAYS.map((day) => [`orders/${day}.csv`, withoutMalformed(day)])),
      'daily_revenue/2025-01-01.csv': csv(REVENUE, 'black-tea,7,51.80', 'mug,2,25.00', 'strainer,14,72.80'),
      'daily_revenue/2025-01-02.csv': csv(REVENUE, 'green-tea,12,106.80', 'mug,7,87.50', 'teapot,3,117.00'),
      'daily_revenue/2025-01-03.csv': csv(REVENUE, 'black-tea,4,29.60', 'mug,11,137.50', 'strainer,3,15.60'),
      'daily_revenue/2025-01-04.csv': csv(
        REVENUE,
        'black-tea,1,7.40',
        'green-tea,6,53.40',
        'mug,4,50.00',
        'strainer,2,10.40',
        'teapot,3,117.00',
      ),
      'daily_revenue/2025-01-05.csv': csv(
        REVENUE,
        'black-tea,3,22.20',
        'green-tea,7,62.30',
        'mug,1,12.50',
        'strainer,1,5.20',
        'teapot,4,156.00',
      ),
      'report.csv': csv(REPORT, ...REPORT_LINES),
    })
  })

  test('say what was made', () => {
    expect(ran.map(({ result, error }) => result ?? error)).toEqual([
      { row_count: 5, path: 'products.csv' },
      { row_count: 39, malformed_count: 5, path: 'orders' },
      { revenue: 1140, price_list: 'materialization-of-', path: 'daily_revenue' },
      { row_count: 5, revenue: 1140, path: 'report.csv' },
    ])
  })

  test('log the lines that were dropped, and say how far they are', () => {
    const dropped = Object.entries(MALFORMED).map(([day, { length }]) => ['warn', 'Malformed lines were dropped.', { day, count: length }])
    expect(ran.flatMap(({ lines }) => lines)).toEqual([...dropped, ['info', '5 days earned 1140.00.', {}]])
    expect(ran.map(({ progress }) => progress.length)).toEqual([0, 5, 5, 0])
    expect(ran[1]?.progress[1]).toEqual({ done: 1, total: 5, message: '2025-01-02' })
  })

  test(
    'leave the same bytes when they are run again',
    async () => {
      const before = filesIn(output)
      await run(stepsOf(DAYS), output)
      expect(filesIn(output)).toEqual(before)
    },
    TIMEOUT_MS,
  )
})

test(
  'one day is made alone, and the report grows with the next',
  async () => {
    const output = newFolder()
    await run(stepsOf(['2025-01-02']), output)
    expect(filesIn(output)['report.csv']).toBe(csv(REPORT, REPORT_LINES[1] as string))
    await run([...stepsOf(['2025-01-01']).slice(0, 3), ...stepsOf(['2025-01-01', '2025-01-02']).slice(3)], output)
    expect(filesIn(output)['report.csv']).toBe(csv(REPORT, ...REPORT_LINES.slice(0, 2)))
  },
  TIMEOUT_MS,
)

test(
  'what is missing upstream is said, and another try is not made',
  async () => {
    const upstream = { 'shop.products': [materialized('')], 'shop.orders': [materialized('2025-01-01')] }
    const day = ['2025-01-02']
    const steps: readonly Step[] = [
      { asset_key: 'shop.daily_revenue', partition_keys: day, upstream: { ...upstream, 'shop.products': [] } },
      { asset_key: 'shop.products' },
      { asset_key: 'shop.daily_revenue', partition_keys: day, upstream },
      { asset_key: 'shop.report', upstream: { 'shop.daily_revenue': [] } },
      { asset_key: 'shop.orders', partition_keys: day, aborted: true },
    ]
    const { ran } = await run(steps, newFolder())
    expect(ran.map(({ result, error, retryable }) => result ?? [error, retryable])).toEqual([
      ['There are no prices yet. Run shop.products first.', false],
      { row_count: 5, path: 'products.csv' },
      ['There are no orders of 2025-01-02 yet. Run shop.orders for it first.', false],
      { skip_reason: 'No day of shop.daily_revenue is there yet.' },
      ['stopped', undefined],
    ])
  },
  TIMEOUT_MS,
)

test(
  'its types are checked with those of the repository',
  async () => {
    const { stdout } = await runTool('node_modules/typescript/bin/tsc', ['-p', '.', '--listFilesOnly'], ROOT)
    expect(stdout.split('\n')).toContain(join(ROOT, 'examples/quickstart/pipeline.ts'))
  },
  TIMEOUT_MS,
)

test(
  'a price that is none is refused with the product',
  async () => {
    const file = join(checkout, 'examples/quickstart/data/products.csv')
    const text = readFileSync(file, 'utf8')
    appendFileSync(file, 'kettle,Kettle,cheap\n')
    const { ran } = await run([{ asset_key: 'shop.products' }], newFolder())
    writeFileSync(file, text)
    expect(ran[0]).toMatchObject({
      error: 'The price of kettle is "cheap". Write it as 12.50 in products.csv.',
      retryable: false,
    })
  },
  TIMEOUT_MS,
)
