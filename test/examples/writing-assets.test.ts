// docs/writing-assets.md: its module is type-checked and loaded as one in a project of its own, what it says is refused
// is refused with these words, and its figures are those of the code.

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  ERROR_MESSAGE_BYTES_MAX,
  LOG_BYTES_MAX,
  PRIORITY_MAX,
  PRIORITY_MIN,
  TASK_METADATA_BYTES_MAX,
  TASK_PARTITIONS_MAX,
  UPSTREAM_METADATA_MAX,
  UPSTREAM_ROWS_MAX,
} from '../../src/core/limits.js'
import { createPackageProject, type PackageProject } from '../fixtures/package-project.js'
import { createPlanStory } from '../fixtures/plan-story.js'
import { ROOT, readText, runProcess, runTool } from '../tidy/tree.js'

const TIMEOUT_MS = 120_000
const DOCUMENT = readText('docs/writing-assets.md')
const blocksOf = (language: string): readonly string[] =>
  [...DOCUMENT.matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)].filter(([, of]) => of === language).map(([, , body]) => body as string)

const MODULE = blocksOf('ts').join('\n')
const REFUSED = blocksOf('ts refused')

let project: PackageProject | undefined
beforeAll(async () => {
  const files = {
    // As strict as the checkout; the options that the page recommends besides.
    'tsconfig.json': JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        paths: {},
        rootDir: '.',
        typeRoots: [join(ROOT, 'node_modules/@types')],
        erasableSyntaxOnly: true,
        allowImportingTsExtensions: true,
      },
      include: ['module.ts'],
    }),
    'module.ts': MODULE,
    'main.js': `
import { loadCodeLocation } from '../servo/dist/sdk/load.js'
console.log(JSON.stringify((await loadCodeLocation('module.ts')).assets.map(({ key }) => key)))`,
    'refused.js': `
import { asset, defineCodeLocation, schedule } from 'servo'
const said = []
for (const statement of JSON.parse(process.argv[2])) {
  try {
    new Function('asset', 'defineCodeLocation', 'schedule', statement)(asset, defineCodeLocation, schedule)
  } catch (error) {
    said.push(error.message + '\\n')
  }
}
console.log(JSON.stringify(said))`,
  }
  project = await createPackageProject(files)
}, TIMEOUT_MS)
afterAll(() => project?.remove())
const folder = () => (project as PackageProject).folder

test(
  'its module has no type error',
  async () => {
    expect(await runTool('node_modules/typescript/bin/tsc', ['-p', '.'], folder())).toMatchObject({ code: 0, stdout: '' })
  },
  TIMEOUT_MS,
)

test(
  'its module is loaded, with every asset that it shows',
  async () => {
    const { stdout, stderr } = await runProcess(['main.js'], folder())
    const keys = [...MODULE.matchAll(/^ {2}key: '(.+)',$/gm)].map(([, key]) => key as string)
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual(keys.sort())
  },
  TIMEOUT_MS,
)

test(
  'what it shows as refused is refused with these words',
  async () => {
    const { stdout, stderr } = await runProcess(['refused.js', JSON.stringify(REFUSED)], folder())
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual(blocksOf('text'))
    expect(REFUSED.length).toBeGreaterThan(0)
  },
  TIMEOUT_MS,
)

describe('its figures', () => {
  test('are what a definition gets that leaves them out', () => {
    const story = createPlanStory({ a: {} })
    const decision = story.plan()
    story.foldDecision(decision)
    const task = story.story.row('tasks', String(decision.drafts[0]?.correlation_id), 'a')
    if (task === undefined) throw new Error('The run has no task.')
    const { retry, max_attempts, max_infra_losses, start_timeout_ms, heartbeat_timeout_ms, timeout_ms, cancel_grace_ms, priority } = task
    const rows = [...DOCUMENT.matchAll(/^\| `([\w.]+)` \| (\S+) \|/gm)].map(([, member, value]) => [member, value])
    expect(Object.fromEntries(rows)).toEqual({
      'retry.max_attempts': String(max_attempts),
      'retry.max_infra_losses': String(max_infra_losses),
      ...Object.fromEntries(Object.entries(retry).map(([name, value]) => [`retry.${name}`, String(value)])),
      start_timeout_seconds: String(start_timeout_ms / 1_000),
      heartbeat_timeout_seconds: String(heartbeat_timeout_ms / 1_000),
      timeout_seconds: timeout_ms === null ? 'none' : String(timeout_ms),
      cancel_grace_seconds: String(cancel_grace_ms / 1_000),
      priority: String(priority),
    })
    expect(DOCUMENT).toContain(`closed ${task.cancel_grace_ms / 1_000} seconds later`)
  })

  test.each([
    `at most ${UPSTREAM_ROWS_MAX.toLocaleString('en')}.`,
    `more than ${UPSTREAM_METADATA_MAX} of them`,
    `at most ${TASK_PARTITIONS_MAX.toLocaleString('en')} partitions`,
    `at most ${TASK_METADATA_BYTES_MAX / 1_024} KiB`,
    `cut at ${ERROR_MESSAGE_BYTES_MAX / 1_024} KiB`,
    `keeps ${LOG_BYTES_MAX / 1_024 ** 2} MiB`,
    `${PRIORITY_MIN} to ${PRIORITY_MAX}`,
  ])('are those of the limits: %s', (said) => {
    expect(DOCUMENT.replaceAll(/\s+/g, ' ')).toContain(said)
  })
})
