// The repository's own rules, and proof that each gate can fail: for every rule a violation is planted, and has to be
// caught by the rule that is meant for it. A gate that cannot fail is not a gate.

import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { editFault } from './mutants/check.js'
import { MUTANTS } from './mutants/mutants.js'
import { countDialect, type DialectCounts, dialectFaults } from './tidy/dialect.js'
import {
  commandsIn,
  decisionFaults,
  invariantFaults,
  kindOf,
  missingFolders,
  missingPaths,
  OLDER_INVARIANTS,
  olderInvariantFaults,
} from './tidy/documents.js'
import { cruise, ENTRIES, type Graph, planted, plantedFiles, ruleNames, unreached } from './tidy/graph.js'
import {
  type Linted,
  lint,
  lintConfiguration,
  NEEDLESS,
  PLANTED_FRAME,
  type PlantedLint,
  plantedRules,
  WELCOME,
  WRONGLY_TYPED,
} from './tidy/lint.js'
import { PLANTED_TEXT, type TextFile, textRules, WELCOME_TEXT } from './tidy/text.js'
import { linkPackages, plantTree, ROOT, readText, removeTree, repositoryFiles, runProcess, runTool } from './tidy/tree.js'

/** A tool takes seconds; several test runs at once on one machine make that a minute. */
const TOOL_TIMEOUT_MS = 300_000
const files = repositoryFiles()
const trees: string[] = []

afterAll(() => trees.forEach(removeTree))

describe('the dependency table', () => {
  let here: Graph
  let there: Graph

  beforeAll(async () => {
    const tree = plantTree(plantedFiles(), ['.dependency-cruiser.cjs', 'tsconfig.json'])
    trees.push(tree)
    ;[here, there] = await Promise.all([cruise(ROOT, ['src', 'test', 'bench']), cruise(tree, ['src'])])
  }, TOOL_TIMEOUT_MS)

  test('reads every source file', () => {
    const sources = files.filter((path) => /^(src|test|bench)\/.*\.ts$/.test(path))
    expect(sources.length).toBeGreaterThan(0)
    expect(sources.filter((path) => !here.modules.includes(path))).toEqual([])
  })

  test('is kept by every source file', () => {
    expect(here.violations).toEqual([])
  })

  test('has a planted violation for every rule', () => {
    expect(ruleNames.filter((rule) => !planted.some((plant) => plant.rule === rule))).toEqual([])
  })

  test.each(planted)('$rule catches $path', ({ rule, path }) => {
    expect(there.violations.filter(({ from }) => from === path).map((violation) => violation.rule)).toContain(rule)
  })

  test('leads from an entry or a test to every module', () => {
    expect(ENTRIES.filter((path) => !here.modules.includes(path))).toEqual([])
    expect(unreached(here)).toEqual([])
  })

  test('shows a planted module that imports and is not imported', () => {
    const islands = unreached(there).filter((path) => path.startsWith('src/tables/'))
    expect(islands).toContain('src/tables/island.ts')
    expect(islands).not.toContain('src/tables/mainland.ts')
    expect(there.violations.filter(({ from }) => from === 'src/tables/island.ts')).toEqual([])
  })

  test('lets pass what it allows', () => {
    expect(there.violations.filter(({ from }) => from.endsWith('/allowed.ts'))).toEqual([])
  })
})

describe('lint and types', () => {
  let configured: Awaited<ReturnType<typeof lintConfiguration>>
  let plants: readonly PlantedLint[]
  let linted: Linted

  beforeAll(async () => {
    configured = await lintConfiguration()
    plants = plantedRules(configured.bans)
    const texts = Object.fromEntries(plants.map(({ path, text }) => [path, text]))
    const tree = plantTree({ ...PLANTED_FRAME, ...WELCOME, ...NEEDLESS, ...WRONGLY_TYPED, ...texts }, [
      'package.json',
      'eslint.config.js',
      'scripts',
    ])
    trees.push(tree)
    linkPackages(tree)
    linted = await lint(tree)
  }, TOOL_TIMEOUT_MS)

  test('have a planted violation for every rule', () => {
    expect(configured.rules.filter((rule) => !plants.some((plant) => plant.rule === rule))).toEqual([])
  })

  test('catch every planted violation by the rule meant for it', () => {
    const missed = plants.filter(
      (plant) =>
        !linted.messages.some(
          ({ path, rule, message }) => path === plant.path && rule === plant.rule && message.includes(plant.message ?? ''),
        ),
    )
    expect(missed).toEqual([])
    expect(linted.code).toBe(1)
  })

  test('report a disabled rule that disables nothing', () => {
    expect(linted.messages.filter(({ path }) => path in NEEDLESS)).toHaveLength(1)
  })

  test('report a type error', () => {
    for (const path of Object.keys(WRONGLY_TYPED)) expect(linted.said).toContain(`${path}(1,14): error TS2322`)
  })

  test('let pass what they welcome', () => {
    expect(linted.messages.filter(({ path }) => path in WELCOME)).toEqual([])
  })
})

describe('format', () => {
  test('fails for a file that is laid out otherwise', async () => {
    const codes = ["export const a = '1'\n", 'export const a = "1";\n'].map(async (text) => {
      const tree = plantTree({ 'src/core/a.ts': text }, ['biome.json'])
      trees.push(tree)
      linkPackages(tree)
      return (await runTool('node_modules/@biomejs/biome/bin/biome', ['format', '.'], tree)).code
    })
    expect(await Promise.all(codes)).toEqual([0, 1])
  })
})

describe('npm test', () => {
  const evaluate = async (script: string): Promise<string[]> => {
    const { stdout, stderr } = await runProcess(
      ['--input-type=module', '--eval', `import * as steps from '${ROOT}scripts/steps.js'\n${script}`],
      ROOT,
    )
    return `${stdout}${stderr}`.trimEnd().split('\n')
  }

  test('counts a tool that fails, and one that is killed, and shows what they said', async () => {
    const said = await evaluate(`
      const bad = steps.tool('bad', ['--eval', 'console.error("what went wrong"); process.exit(3)'])
      const killed = steps.tool('killed', ['--eval', 'process.kill(process.pid, "SIGKILL")'])
      const good = steps.tool('good', ['--eval', 'console.log("not shown"); console.log("note: 12 crash points")'])
      console.log('exit code', steps.close(await steps.runSteps([bad, killed, good], [steps.ANY, steps.ANY])))`)
    expect(
      said
        .filter((line) => /^(ok|FAIL)/.test(line))
        .map((line) => line.split(/\s+/).slice(0, 2).join(' '))
        .sort(),
    ).toEqual(['FAIL bad', 'FAIL killed', 'ok good'])
    expect(said).toContain('what went wrong')
    expect(said.join()).not.toContain('not shown')
    expect(said.map((line) => line.trim())).toContain('12 crash points')
    expect(said.slice(-2)).toEqual(['1 passed, 2 failed, 0 skipped', 'exit code 1'])
  })

  test('runs first in a lane what the lane is for, and then the rest', async () => {
    const said = await evaluate(`
      const all = ['one', 'two', 'three', 'four'].map((name) => steps.tool(name, ['--eval', '']))
      await steps.runSteps(all, [({ name }) => name.startsWith('t')])`)
    expect(said.map((line) => line.split(/\s+/)[1])).toEqual(['two', 'three', 'one', 'four'])
  })

  test('counts what jest says, files that could not be loaded, runs without a test, and names what was skipped', async () => {
    const said = await evaluate(`
      const passed = { status: 'passed', fullName: 'a' }
      const failed = { status: 'failed', fullName: 'b' }
      const skipped = { status: 'pending', fullName: 'c (skipped: needs a real bucket)' }
      const file = (status, ...assertionResults) => ({ status, assertionResults })
      const tally = (code, ...testResults) => steps.suiteTally({ testResults }, code)
      for (const { passed: p, failed: f, skipped: s } of [
        tally(1, file('failed', passed, failed, skipped)), tally(1, file('failed'), file('passed', passed)), tally(0), tally(1, file('passed', passed)),
      ]) console.log(p, f, s.length)
      steps.close({ passed: 1, failed: 0, skipped: [skipped.fullName] })`)
    expect(said).toEqual(['1 1 1', '1 1 0', '0 1 0', '1 1 0', 'skipped: c: needs a real bucket', '1 passed, 0 failed, 1 skipped'])
  })

  test('says all that is missing on the machine, and closes with its line', async () => {
    const tree = plantTree({}, ['scripts', 'package.json'])
    trees.push(tree)
    const { code, stdout } = await runProcess(['scripts/test.js'], tree, { PATH: tree })
    const said = stdout.trimEnd().split('\n')
    expect(said[0]).toMatch(/^git was not found: install it/)
    expect(said[1]).toMatch(/^Go was not found: install it/)
    expect([said.at(-1), code]).toEqual(['0 passed, 1 failed, 0 skipped', 1])
  })
})

describe('every test file', () => {
  test('is in a folder, which scripts/test.js runs, or is this one', () => {
    const loose = files.filter((path) => path.endsWith('.test.ts') && !/^(src\/|test\/[^/]+\/)/.test(path))
    expect(loose).toEqual(['test/tidy.test.ts'])
  })
})

describe('every mutant', () => {
  test('still finds the guard that it takes away, and the file with the test that notices', () => {
    expect(MUTANTS.length).toBeGreaterThan(0)
    expect(MUTANTS.flatMap(({ edits }) => edits.flatMap((edit) => editFault(edit) ?? []))).toEqual([])
    expect(MUTANTS.filter(({ killed_by }) => !files.includes(killed_by.file))).toEqual([])
    expect(editFault({ file: 'package.json', find: 'nowhere to be found', replace: '' })).toContain('0 times')
  })
})

describe('names and words', () => {
  const texts = files.filter((path) => !/\.(parquet|png|ico)$/.test(path)).map(fileAt)

  test.each(textRules)('%s holds everywhere', (_, rule) => {
    expect(texts.length).toBeGreaterThan(0)
    expect(rule(texts)).toEqual([])
  })

  test.each(textRules)('%s finds what was planted', (name, rule) => {
    const wrong = PLANTED_TEXT[name]
    expect(rule(wrong).map(({ path }) => path)).toEqual(wrong.map(({ path }) => path))
    expect(rule(WELCOME_TEXT)).toEqual([])
  })
})

describe('plain English', () => {
  const recorded = JSON.parse(readText('test/tidy/dialect.json')) as DialectCounts
  const texts = files.filter((path) => /\.(ts|js|md|yml)$/.test(path)).map(fileAt)

  test('gets no worse in any folder, and the numbers follow where it gets better', () => {
    expect(dialectFaults(countDialect(texts), recorded)).toEqual([])
  })

  test('is missed in a planted sentence and a planted name', () => {
    const counts = (text: string) => countDialect([{ path: 'src/turn/planted.ts', text }])
    expect(counts('// Whoever asks is told anew, and nobody says so.')).toEqual({ 'src/turn': 4 })
    expect(counts('type RunAsked = { readonly Told: string }\ninterface Said {}')).toEqual({ 'src/turn': 2 })
    expect(counts('// The caller gets the last answer again.\ntype RunRequest = { readonly asked: string }')).toEqual({})
    expect(dialectFaults({ 'src/turn': 3 }, { 'src/turn': 2 })[0]).toContain('3 instead of 2')
    expect(dialectFaults({}, { 'src/turn': 2 })[0]).toContain('Write 0')
  })
})

describe('ARCHITECTURE.md', () => {
  const document = fileAt('ARCHITECTURE.md')
  const exists = (path: string) => existsSync(`${ROOT}${path}`)
  const folders = [...new Set(files.filter((path) => path.startsWith('src/')).map((path) => path.split('/')[1] as string))]

  test('names only paths that exist, as every document does', () => {
    const others = files.filter((path) => /^(README\.md|docs\/.*\.md)$/.test(path) && !path.endsWith('template.md')).map(fileAt)
    expect([document, ...others].flatMap((each) => missingPaths(each, exists))).toEqual([])
    expect(missingPaths({ ...document, text: 'Read `turn/nowhere.ts`.' }, exists)).toHaveLength(1)
  })

  test('speaks of every folder of src/', () => {
    expect(missingFolders(document, folders)).toEqual([])
    expect(missingFolders({ ...document, text: 'Read `src/core`.' }, ['core', 'turn'])).toHaveLength(1)
  })
})

describe('the index of decisions', () => {
  const index = fileAt('docs/adr/README.md')
  const decisions = files.filter((path) => /^docs\/adr\/\d{4}-.*\.md$/.test(path)).map(fileAt)

  test('has a row for every decision, and a decision for every row', () => {
    expect(decisions.length).toBeGreaterThan(0)
    expect(decisionFaults(index, decisions)).toEqual([])
  })

  test('is caught with a row too many, one too few, and another title', () => {
    const [first, ...others] = decisions as [TextFile, ...TextFile[]]
    expect(decisionFaults(index, others)).not.toEqual([])
    expect(decisionFaults({ ...index, text: '' }, decisions)).not.toEqual([])
    expect(decisionFaults(index, [{ ...first, text: first.text.replace(/^# .*$/m, '# 0020: Another') }, ...others])).not.toEqual([])
    expect(decisionFaults(index, [{ ...first, text: first.text.replace('## Rejected', '## Chosen') }, ...others])).not.toEqual([])
  })
})

describe('docs/invariants.md', () => {
  const document = fileAt('docs/invariants.md')
  const tests = files.filter((path) => path.endsWith('.test.ts') && !path.startsWith('test/tidy')).map(fileAt)

  test('names for every invariant the test that proves it', () => {
    expect(invariantFaults(document, tests)).toEqual([])
  })

  test('names for every invariant of the older plans the test that is called by its name', () => {
    expect(olderInvariantFaults(document, tests)).toEqual([])
    expect(OLDER_INVARIANTS.filter((name) => !document.text.includes(`| ${name} | `))).toEqual([])
  })

  test('is caught with a name that no test has, or one that it does not know', () => {
    const row: TextFile = { path: document.path, text: '| L2-INV-4 | a name | I8 | `test/invariants/inv.test.ts` |\n' }
    const proof = (title: string): TextFile => ({ path: 'test/invariants/inv.test.ts', text: `test('${title}', () => {})` })
    expect(olderInvariantFaults(row, [proof('L2-INV-4 it holds')])).toEqual([])
    expect(olderInvariantFaults(row, [])).toHaveLength(1)
    expect(olderInvariantFaults(row, [proof('INV-4 it holds')])).toHaveLength(2)
    expect(olderInvariantFaults({ ...row, text: '' }, [])).toHaveLength(1)
  })

  test('is caught with a test that is missing, or says another number', () => {
    const row = (proof: string): TextFile => ({ path: document.path, text: `| I1 | It holds. | ${proof} |\n` })
    const proof: TextFile = { path: 'test/invariants/i01-it.test.ts', text: "test('I1 it holds', () => {})" }
    expect(invariantFaults(row('`test/invariants/i01-it.test.ts`'), [proof])).toEqual([])
    expect(invariantFaults(row('comes with schedules'), [])).toEqual([])
    expect(invariantFaults(row('`test/invariants/i01-it.test.ts`'), [])).toHaveLength(1)
    expect(invariantFaults(row('by thinking'), [proof])).toHaveLength(1)
    expect(invariantFaults(row('`test/invariants/i01-it.test.ts`'), [{ ...proof, text: "test('I11 it holds', () => {})" }])).toHaveLength(2)
    expect(invariantFaults({ ...document, text: '' }, [])).toHaveLength(1)
  })
})

describe('commands in the documents', () => {
  const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> }
  const documents = files.filter((path) => /^(README|ARCHITECTURE|docs\/.*)\.md$/.test(path)).map(fileAt)

  test('are scripts of package.json, or run by test/tidy/commands.test.ts', () => {
    const commands = documents.flatMap(commandsIn)
    expect(commands.length).toBeGreaterThan(0)
    expect(commands.filter(({ line }) => kindOf(line, Object.keys(scripts)) === 'unknown')).toEqual([])
  })

  test('are caught when there is no such script', () => {
    const lines = ['npm run nothing', 'npm check', 'make', 'curl localhost', 'npm test; rm x']
    expect(lines.map((line) => kindOf(line, ['check', 'test']))).toEqual(lines.map(() => 'unknown'))
    expect(kindOf('npm run check', ['check'])).toBe('script')
  })
})

describe('the change log', () => {
  test('begins with what is not released', () => {
    expect(/^## .*$/m.exec(readText('CHANGELOG.md'))?.[0]).toBe('## Unreleased')
  })
})

function fileAt(path: string): TextFile {
  return { path, text: existsSync(`${ROOT}${path}`) ? readText(path) : '' }
}
