// Runs the `servo` commands of the documents, each block in order in a folder of its own, so that what they say works.

import { execFile } from 'node:child_process'
import { existsSync, utimesSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from '@jest/globals'
import { commandBlocks, kindOf } from './documents.js'
import { plantTree, ROOT, readText, removeTree, repositoryFiles, runProcess } from './tree.js'

const BLOCK_TIMEOUT_MS = 300_000
const trees: string[] = []

afterAll(() => trees.forEach(removeTree))

const blocks = repositoryFiles()
  .filter((path) => /^(README|ARCHITECTURE|docs\/.*)\.md$/.test(path))
  .flatMap((path) => commandBlocks({ path, text: readText(path) }))
  .map(({ path, lines }) => ({ path, lines: lines.filter((line) => kindOf(line, []) === 'servo') }))
  .filter(({ lines }) => lines.length > 0)
  .map((block) => ({ ...block, first: block.lines[0] }))

/** What goes on until it is stopped is only asked whether it knows its arguments. */
const endsByItself = (line: string): boolean => !/ --(follow|watch)\b/.test(line)

function runBlock(lines: readonly string[], cwd: string): Promise<{ code: number; said: string }> {
  const script = lines.map((line) => line.replaceAll('npx servo', `'${process.execPath}' '${ROOT}bin/servo.js'`)).join('\n')
  return new Promise((resolve) => {
    execFile('bash', ['-euo', 'pipefail', '-c', script], { cwd, encoding: 'utf8' }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, said: `${stdout}${stderr}` }),
    )
  })
}

describe('the commands in the documents', () => {
  test('are there', () => {
    expect(blocks.length).toBeGreaterThan(0)
  })

  test.each(blocks)(
    '$path: $first',
    async ({ lines }) => {
      const tree = plantTree({}, [])
      trees.push(tree)
      const { code, said } = await runBlock(lines.filter(endsByItself), tree)
      expect({ code, said: code === 0 ? '' : said }).toEqual({ code: 0, said: '' })
    },
    BLOCK_TIMEOUT_MS,
  )

  // One test for all of them: there may be none.
  test('are understood where they go on until they are stopped', async () => {
    for (const line of blocks.flatMap(({ lines }) => lines.filter((each) => !endsByItself(each)))) {
      const args = line
        .slice(line.indexOf('npx servo') + 'npx servo'.length)
        .trim()
        .split(/\s+/)
      const { stdout } = await runProcess(
        [`${ROOT}bin/servo.js`, ...args.filter((arg) => !arg.startsWith('--')).slice(0, 2), '--help'],
        ROOT,
      )
      const options = args.filter((arg) => arg.startsWith('--')).map((arg) => arg.split('=')[0])
      expect(options.filter((option) => !stdout.includes(option as string))).toEqual([])
    }
  })

  test('fail when a command does not work', async () => {
    const tree = plantTree({}, [])
    trees.push(tree)
    expect((await runBlock(['npx servo ledger nothing'], tree)).code).toBe(1)
  })
})

describe('the command', () => {
  const run = (args: readonly string[]) => runProcess([`${ROOT}bin/servo.js`, ...args], ROOT)

  test('says its version, and its exit codes are those of the documents', async () => {
    const { version } = JSON.parse(readText('package.json')) as { version: string }
    expect(await run(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` })
    expect(await run(['--nothing'])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining("Unknown option '--nothing'.") })
    expect(await run(['ledger', '--help'])).toMatchObject({ code: 0 })
  })

  test('has the commands that its page lists for each group', async () => {
    const groups = [...readText('docs/cli.md').matchAll(/^\| `servo ([a-z]+)` \| ((?:`[a-z-]+`(?:, )?)+)/gm)]
    expect(groups.length).toBeGreaterThan(0)
    for (const [, group, listed] of groups) {
      const { stdout } = await run([group as string, '--help'])
      const commands = [...stdout.slice(stdout.indexOf('Commands:')).matchAll(/^ {2}([a-z-]+)(?= ).* {2}\S/gm)].map(([, name]) => name)
      const named = [...(listed as string).matchAll(/[a-z-]+/g)].map(([name]) => name)
      expect({ group, named: named.sort() }).toEqual({ group, named: commands.filter((name) => name !== 'help').sort() })
    }
  })

  // On a machine that is busy with something else Node alone may take as long, so the bound then follows Node.
  test('says its version within 200 ms', async () => {
    const quickest_ms = { servo: Number.POSITIVE_INFINITY, node: Number.POSITIVE_INFINITY }
    const bound_ms = () => Math.max(200, 2.5 * quickest_ms.node)
    for (let i = 0; i < 10 && quickest_ms.servo >= bound_ms(); i++) {
      quickest_ms.node = Math.min(quickest_ms.node, await duration_ms(() => runProcess(['--eval', '0'], ROOT)))
      quickest_ms.servo = Math.min(quickest_ms.servo, await duration_ms(() => run(['--version'])))
    }
    expect(quickest_ms.servo).toBeLessThan(bound_ms())
  })

  test('says what to run where nothing is built yet', async () => {
    const tree = plantTree({}, ['bin', 'scripts', 'package.json'])
    trees.push(tree)
    const { code, stderr } = await runProcess([`${tree}/bin/servo.js`, '--version'], tree)
    expect([code, stderr]).toEqual([1, expect.stringContaining('npm run build')])
  })

  test.each(['src/newer.ts', 'package-lock.json', 'scripts/bundle.js'])(
    'says that %s is newer than the build, and runs the build',
    async (newer) => {
      const dist = "export const main = async () => (console.log('built'), 0)\n"
      const tree = plantTree({ 'dist/cli/main.js': dist, 'dist/build-began': '', 'src/one.ts': '' }, ['bin', 'scripts', 'package.json'])
      trees.push(tree)
      const run = () => runProcess([`${tree}/bin/servo.js`], tree)
      const dated = (file: string, seconds: number) =>
        utimesSync(`${tree}/${file}`, Date.now() / 1_000 + seconds, Date.now() / 1_000 + seconds)
      dated('dist/build-began', 60)
      expect(await run()).toEqual({ code: 0, stdout: 'built\n', stderr: '' })
      if (!existsSync(`${tree}/${newer}`)) writeFileSync(`${tree}/${newer}`, '')
      dated(newer, 120)
      expect(await run()).toEqual({ code: 0, stdout: 'built\n', stderr: expect.stringContaining('npm run build') })
    },
  )
})

async function duration_ms(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
