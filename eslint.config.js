// What the compiler cannot see: promises that nobody awaits, switches that miss a case, and impurity where code has to
// be a function of its input. Layout is biome's, imports are dependency-cruiser's. Every message names the cure, and
// test/tidy.test.ts plants a violation of each rule.

import tseslint from 'typescript-eslint'

const UNIT_TESTS = 'src/**/*.test.ts'
const PURE_CODE = ['core', 'events', 'partitions', 'projections', 'controllers'].map((folder) => `src/${folder}/**/*.ts`)

const HOUSE_BANS = [
  ban('ExportDefaultDeclaration', 'Name what you export: default exports get another name in every file that imports them.'),
  ban('ExportAllDeclaration', 'Import from the file that has it: a barrel hides where things are and makes cycles.'),
  ban(
    'TSEnumDeclaration',
    "Write a union of strings, `type State = 'OPEN' | 'DONE'`: it is what is stored, and a switch over it is checked.",
  ),
  ban('ClassDeclaration:not([superClass.name=/Error$/])', 'Write a type and functions that take it: classes are for errors alone.'),
  ban('Decorator', 'Call the function: decorators hide what runs.'),
]

const ENVIRONMENT_BAN = ban(
  "MemberExpression[object.name='process'][property.name='env']",
  'Take the value as an argument: bin/config.ts and cli/main.ts alone read the environment.',
)

// The port's put has three arguments (name, bytes, options) and its delete two; a Map's delete has one.
const STORE_WRITE_BAN = ban(
  "CallExpression[callee.property.name='put'][arguments.length=3], CallExpression[callee.property.name='delete'][arguments.length=2]",
  'Append an event, or ask the compactor: the ledger, compactor and commands folders alone write objects.',
)

const DEFAULT_CASE_BAN = ban(
  'SwitchCase[test=null]',
  'Write a case for each member and end with assertNever after the switch: a default swallows the member that is added next.',
)

const TAKE_NOW = 'Take `now` as an argument: pure code gives the same answer whenever it is asked.'
const TAKE_RANDOM = 'Take a RandomBytes (core/ulid.ts) as an argument, or derive the value from its input with core/hash.ts.'
const MOVE_OUT = 'Move this to an I/O folder and pass its result in: pure code is synchronous, and its callers wait.'
const RETURN_IT = 'Return what you found and let an I/O folder say it: pure code is silent.'
const PASS_IT = 'Pass the value in: pure code knows nothing of the process that it runs in.'

const PURITY_BANS = [
  ban("NewExpression[callee.name='Date'][arguments.length=0]", TAKE_NOW),
  ban("CallExpression[callee.name='Date']", TAKE_NOW),
  ban("MemberExpression[object.name='Date'][property.name='now']", TAKE_NOW),
  ban("MemberExpression[object.name='performance']", TAKE_NOW),
  ban(
    'CallExpression[callee.property.name=/^(get|set)(FullYear|Month|Date|Day|Hours|Minutes|TimezoneOffset)$/]',
    'Use the UTC form, or a zone that is passed in: the local zone is that of the machine.',
  ),
  ban(
    'CallExpression[callee.property.name=/^(localeCompare|toLocale.*)$/]',
    'Use compareText of core/order.ts: locales differ between machines.',
  ),
  ban("MemberExpression[object.name='Math'][property.name='random']", TAKE_RANDOM),
  ban("MemberExpression[property.name='randomUUID']", TAKE_RANDOM),
  ban(':function[async=true]', MOVE_OUT),
  ban('AwaitExpression', MOVE_OUT),
  ban('ForOfStatement[await=true]', MOVE_OUT),
  ban("NewExpression[callee.name='Promise']", MOVE_OUT),
]

const PURITY_GLOBALS = [
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'fetch'].map((name) => ({ name, message: MOVE_OUT })),
  { name: 'console', message: RETURN_IT },
  { name: 'process', message: PASS_IT },
  { name: 'performance', message: TAKE_NOW },
  { name: 'crypto', message: TAKE_RANDOM },
  { name: 'globalThis', message: PASS_IT },
]

/** Lines of a function without those of the functions inside it: a factory that returns ten short closures is short. */
const ownLines = {
  meta: {
    type: 'suggestion',
    schema: [{ type: 'integer' }],
    messages: { long: 'This function has {{count}} lines of its own, {{max}} are the limit: give a part of it a name.' },
  },
  create(context) {
    const max = context.options[0]
    const isCode = codeLines(context.sourceCode)
    const open = []
    const size = (node) => {
      let count = 0
      for (let line = node.loc.start.line; line <= node.loc.end.line; line++) if (isCode(line)) count++
      return count
    }
    return {
      ':function'() {
        open.push({ nested: 0 })
      },
      ':function:exit'(node) {
        const lines = size(node)
        const count = lines - open.pop().nested
        const outer = open.at(-1)
        // Its first line stays with the outer function: the call or the property that holds it is written there.
        if (outer !== undefined) outer.nested += Math.max(0, lines - 1)
        if (count > max) context.report({ node, messageId: 'long', data: { count, max } })
      },
    }
  },
}

export default [
  { ignores: ['dist/', 'node_modules/', '**/*.d.ts'] },
  {
    files: ['**/*.ts'],
    languageOptions: { parser: tseslint.parser, parserOptions: { project: 'tsconfig.json', tsconfigRootDir: process.cwd() } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: { '@typescript-eslint': tseslint.plugin, servo: { rules: { 'own-lines': ownLines } } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: false }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/ban-ts-comment': ['error', { 'ts-expect-error': 'allow-with-description', 'ts-ignore': true }],
      'no-restricted-syntax': ['error', ...HOUSE_BANS],
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'no-restricted-syntax': ['error', ...HOUSE_BANS, ENVIRONMENT_BAN, STORE_WRITE_BAN],
      'no-restricted-imports': ['error', { paths: banned(['node:process', 'process'], ENVIRONMENT_BAN.message) }],
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'servo/own-lines': ['error', 60],
    },
  },
  {
    files: ['src/storage/**/*.ts', 'src/ledger/**/*.ts', 'src/compactor/**/*.ts', 'src/commands/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...HOUSE_BANS, ENVIRONMENT_BAN] },
  },
  {
    files: ['src/bin/config.ts', 'src/cli/main.ts'],
    rules: { 'no-restricted-syntax': ['error', ...HOUSE_BANS, STORE_WRITE_BAN], 'no-restricted-imports': 'off' },
  },
  {
    files: PURE_CODE,
    ignores: [UNIT_TESTS],
    rules: {
      'no-restricted-syntax': ['error', ...HOUSE_BANS, ENVIRONMENT_BAN, STORE_WRITE_BAN, ...PURITY_BANS],
      'no-restricted-globals': ['error', ...PURITY_GLOBALS],
    },
  },
  {
    files: ['src/projections/**/*.ts'],
    ignores: [UNIT_TESTS],
    rules: { 'no-restricted-syntax': ['error', ...HOUSE_BANS, ENVIRONMENT_BAN, STORE_WRITE_BAN, ...PURITY_BANS, DEFAULT_CASE_BAN] },
  },
  {
    files: ['test/**/*.ts', UNIT_TESTS],
    rules: { 'max-lines': ['error', { max: 500, skipBlankLines: true, skipComments: true }], 'servo/own-lines': 'off' },
  },
  {
    files: [UNIT_TESTS],
    rules: { 'no-restricted-syntax': ['error', ...HOUSE_BANS] },
  },
]

function ban(selector, message) {
  return { selector, message }
}

function banned(names, message) {
  return names.map((name) => ({ name, message }))
}

function codeLines(sourceCode) {
  const commentOnly = new Set()
  for (const comment of sourceCode.getAllComments()) {
    for (let line = comment.loc.start.line; line <= comment.loc.end.line; line++) {
      const text = sourceCode.lines[line - 1].trim()
      if (/^(\/\/|\/\*|\*)/.test(text)) commentOnly.add(line)
    }
  }
  return (line) => sourceCode.lines[line - 1].trim() !== '' && !commentOnly.has(line)
}
