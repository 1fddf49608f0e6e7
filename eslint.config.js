// What the compiler cannot see: promises that nobody awaits, switches that miss a case, and impurity where code has to
// be a function of its input. Layout is biome's, imports are dependency-cruiser's. Every message names the cure, and
// test/tidy.test.ts plants a violation of each rule.

import tseslint from 'typescript-eslint'

const UNIT_TESTS = 'src/**/*.test.ts'
const PURE_CODE = ['core', 'events', 'partitions', 'projections', 'controllers'].map((folder) => `src/${folder}/**/*.ts`)

// A ban carries an example of what it catches, which test/tidy.test.ts plants in the folder that it is for.
const HOUSE_BANS = bans('turn', [
  {
    selector: 'ExportDefaultDeclaration',
    message: 'Name what you export: default exports get another name in every file that imports them.',
    example: 'export default 1',
  },
  {
    selector: 'ExportAllDeclaration',
    message: 'Import from the file that has it: a barrel hides where things are and makes cycles.',
    example: "export * from './one.js'",
  },
  {
    selector: 'TSEnumDeclaration',
    message: "Write a union of strings, `type State = 'OPEN' | 'DONE'`: it is what is stored, and a switch over it is checked.",
    example: 'export enum State { OPEN }',
  },
  {
    selector: 'ClassDeclaration:not([superClass.name=/Error$/])',
    message: 'Write a type and functions that take it: classes are for errors alone.',
    example: 'export class Box {}',
  },
  {
    selector: 'Decorator',
    message: 'Call the function: decorators hide what runs.',
    example: 'declare const log: ClassDecorator\n@log export class LoggedError extends Error {}',
  },
])

const ENVIRONMENT_BANS = bans('turn', [
  {
    selector: "MemberExpression[object.name='process'][property.name='env']",
    message: 'Take the value as an argument: bin/config.ts and cli/main.ts alone read the environment.',
    example: 'export const home = process.env',
  },
])

// The port's put has three arguments (name, bytes, options) and its delete two; a Map's delete has one.
const STORE_WRITE_MESSAGE = 'Append an event, or ask the compactor: storage, ledger, compactor and commands alone write objects.'
const STORE_WRITE_BANS = bans('turn', [
  {
    selector: "CallExpression[callee.property.name='put'][arguments.length=3]",
    message: STORE_WRITE_MESSAGE,
    example: 'declare const store: { put: (...of: string[]) => void }\nstore.put("state/x", "", "0")',
  },
  {
    selector: "CallExpression[callee.property.name='delete'][arguments.length=2]",
    message: STORE_WRITE_MESSAGE,
    example: 'declare const store: { delete: (...of: string[]) => void }\nstore.delete("state/x", "1")',
  },
])

const DEFAULT_CASE_BANS = bans('projections', [
  {
    selector: 'SwitchCase[test=null]',
    message: 'Write a case for each member and end with assertNever after the switch: a default swallows the member that is added next.',
    example: "export const f = (x: 'a' | 'b') => { switch (x) { case 'a': case 'b': return 1; default: return 2 } }",
  },
])

const TAKE_NOW = 'Take `now` as an argument: pure code gives the same answer whenever it is asked.'
const TAKE_RANDOM = 'Take a RandomBytes (core/ulid.ts) as an argument, or derive the value from its input with core/hash.ts.'
const MOVE_OUT = 'Move this to an I/O folder and pass its result in: pure code is synchronous, and its callers wait.'
const RETURN_IT = 'Return what you found and let an I/O folder say it: pure code is silent.'
const PASS_IT = 'Pass the value in: pure code knows nothing of the process that it runs in.'

const PURITY_BANS = bans('core', [
  { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: TAKE_NOW, example: 'export const f = () => new Date()' },
  { selector: "CallExpression[callee.name='Date']", message: TAKE_NOW, example: 'export const f = () => Date()' },
  {
    selector: "MemberExpression[object.name='Date'][property.name='now']",
    message: TAKE_NOW,
    example: 'export const f = () => Date.now()',
  },
  {
    selector: 'CallExpression[callee.property.name=/^(get|set)(FullYear|Month|Date|Day|Hours|Minutes|TimezoneOffset)$/]',
    message: 'Use the UTC form, or a zone that is passed in: the local zone is that of the machine.',
    example: 'export const f = (at: Date) => at.getHours()',
  },
  {
    selector: 'CallExpression[callee.property.name=/^(localeCompare|toLocale.*)$/]',
    message: 'Use compareText of core/order.ts, or a format of your own: locales differ between machines.',
    example: "export const f = (a: string) => a.localeCompare('b')",
  },
  {
    selector: "MemberExpression[object.name='Math'][property.name='random']",
    message: TAKE_RANDOM,
    example: 'export const f = () => Math.random()',
  },
  {
    selector: "MemberExpression[property.name='randomUUID']",
    message: TAKE_RANDOM,
    example: 'export const f = (c: Crypto) => c.randomUUID()',
  },
  { selector: ':function[async=true]', message: MOVE_OUT, example: 'export async function f() {}' },
  { selector: 'AwaitExpression', message: MOVE_OUT, example: 'export const x = await Promise.resolve(1)' },
  { selector: 'ForOfStatement[await=true]', message: MOVE_OUT, example: 'for await (const x of [Promise.resolve(1)]) void x' },
  { selector: "NewExpression[callee.name='Promise']", message: MOVE_OUT, example: 'export const x = new Promise(() => {})' },
])

const PURITY_GLOBALS = bans('core', [
  { name: 'setTimeout', message: MOVE_OUT, example: 'setTimeout(() => {}, 1)' },
  { name: 'setInterval', message: MOVE_OUT, example: 'setInterval(() => {}, 1)' },
  { name: 'setImmediate', message: MOVE_OUT, example: 'setImmediate(() => {})' },
  { name: 'queueMicrotask', message: MOVE_OUT, example: 'queueMicrotask(() => {})' },
  { name: 'fetch', message: MOVE_OUT, example: "void fetch('http://localhost')" },
  { name: 'console', message: RETURN_IT, example: "console.log('x')" },
  { name: 'process', message: PASS_IT, example: 'export const f = () => process.pid' },
  { name: 'performance', message: TAKE_NOW, example: 'export const f = () => performance.now()' },
  { name: 'crypto', message: TAKE_RANDOM, example: 'export const f = () => crypto.subtle' },
  { name: 'globalThis', message: PASS_IT, example: 'export const f = () => globalThis' },
])

const KEEP_IN_LOOP =
  'Keep it inside the loop: all loops of a process share one copy of the modules (scripts/build.js), and its state with it.'
const AT_TOP = ':matches(Program, Program > ExportNamedDeclaration) > VariableDeclaration'
const MODULE_STATE_BANS = bans('workflows', [
  {
    selector: `${AT_TOP}[kind='let']`,
    message: KEEP_IN_LOOP,
    example: 'let turns = 0\nexport const next = () => ++turns',
  },
  {
    selector: `${AT_TOP} > VariableDeclarator > NewExpression[callee.name=/^(Map|Set|WeakMap|WeakSet|Array)$/].init`,
    message: KEEP_IN_LOOP,
    example: 'export const known = new Map<string, number>()',
  },
  {
    selector: `${AT_TOP} > VariableDeclarator > :matches(ArrayExpression[elements.length=0], ObjectExpression[properties.length=0]).init`,
    message: KEEP_IN_LOOP,
    example: 'const seen: string[] = []\nexport const see = (id: string) => seen.push(id)',
  },
])
/** What workflows import of core: no more than .dependency-cruiser.cjs lets them, and what that imports. */
const REACHED_BY_WORKFLOWS = ['ids', 'names', 'limits', 'time', 'errors'].map((name) => `src/core/${name}.ts`)

export const BANS = [
  ...HOUSE_BANS,
  ...ENVIRONMENT_BANS,
  ...STORE_WRITE_BANS,
  ...DEFAULT_CASE_BANS,
  ...PURITY_BANS,
  ...PURITY_GLOBALS,
  ...MODULE_STATE_BANS,
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
      'no-restricted-syntax': noSyntax(HOUSE_BANS),
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'no-restricted-syntax': noSyntax(HOUSE_BANS, ENVIRONMENT_BANS, STORE_WRITE_BANS),
      'no-restricted-imports': [
        'error',
        { paths: ['node:process', 'process'].map((name) => ({ name, message: ENVIRONMENT_BANS[0].message })) },
      ],
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'servo/own-lines': ['error', 60],
    },
  },
  {
    files: ['src/storage/**/*.ts', 'src/ledger/**/*.ts', 'src/compactor/**/*.ts', 'src/commands/**/*.ts'],
    rules: { 'no-restricted-syntax': noSyntax(HOUSE_BANS, ENVIRONMENT_BANS) },
  },
  {
    files: ['src/bin/config.ts', 'src/cli/main.ts'],
    rules: { 'no-restricted-syntax': noSyntax(HOUSE_BANS, STORE_WRITE_BANS), 'no-restricted-imports': 'off' },
  },
  {
    files: PURE_CODE,
    ignores: [UNIT_TESTS],
    rules: {
      'no-restricted-syntax': noSyntax(HOUSE_BANS, ENVIRONMENT_BANS, STORE_WRITE_BANS, PURITY_BANS),
      'no-restricted-globals': ['error', ...PURITY_GLOBALS.map(({ name, message }) => ({ name, message }))],
    },
  },
  {
    files: ['src/workflows/**/*.ts'],
    rules: { 'no-restricted-syntax': noSyntax(HOUSE_BANS, ENVIRONMENT_BANS, STORE_WRITE_BANS, MODULE_STATE_BANS) },
  },
  {
    files: REACHED_BY_WORKFLOWS,
    rules: { 'no-restricted-syntax': noSyntax(HOUSE_BANS, ENVIRONMENT_BANS, STORE_WRITE_BANS, PURITY_BANS, MODULE_STATE_BANS) },
  },
  {
    files: ['src/projections/**/*.ts'],
    ignores: [UNIT_TESTS],
    rules: { 'no-restricted-syntax': noSyntax(HOUSE_BANS, ENVIRONMENT_BANS, STORE_WRITE_BANS, PURITY_BANS, DEFAULT_CASE_BANS) },
  },
  {
    files: ['test/**/*.ts', UNIT_TESTS],
    rules: { 'max-lines': ['error', { max: 500, skipBlankLines: true, skipComments: true }], 'servo/own-lines': 'off' },
  },
  {
    files: [UNIT_TESTS],
    rules: { 'no-restricted-syntax': noSyntax(HOUSE_BANS) },
  },
]

function bans(folder, list) {
  return list.map((entry) => ({ ...entry, folder }))
}

function noSyntax(...lists) {
  return ['error', ...lists.flat().map(({ selector, message }) => ({ selector, message }))]
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
