// Runs ESLint on a tree, and has a file for every ban and rule of eslint.config.js.

import { join } from 'node:path'
import { ROOT, runProcess } from './tree.js'

export type LintMessage = { readonly path: string; readonly rule: string | null; readonly message: string }

export type Linted = { readonly messages: readonly LintMessage[]; readonly said: string; readonly code: number }

/** Runs scripts/lint-and-types.js of that tree. */
export async function lint(cwd: string): Promise<Linted> {
  const { code, stdout, stderr } = await runProcess(['scripts/lint-and-types.js', 'json'], cwd)
  const report = stdout.split('\n').find((line) => line.startsWith('['))
  if (report === undefined) throw new Error(`ESLint answered no JSON: ${stdout}${stderr}`)
  const files = JSON.parse(report) as readonly {
    readonly filePath: string
    readonly messages: readonly { readonly ruleId: string | null; readonly message: string }[]
  }[]
  const messages = files.flatMap(({ filePath, messages: found }) =>
    found.map(({ ruleId, message }) => ({ path: filePath.slice(filePath.lastIndexOf('/src/') + 1), rule: ruleId, message })),
  )
  return { messages, said: stdout, code }
}

type Ban = {
  readonly selector?: string
  readonly name?: string
  readonly message: string
  readonly example: string
  readonly folder: string
}
type LintConfiguration = { readonly rules: readonly string[]; readonly bans: readonly Ban[] }

/** Asked of a process of its own: inside jest, the import would load a second TypeScript. */
export async function lintConfiguration(): Promise<LintConfiguration> {
  const script = `
    const { default: blocks, BANS } = await import(${JSON.stringify(join(ROOT, 'eslint.config.js'))})
    console.log(JSON.stringify({ rules: [...new Set(blocks.flatMap((block) => Object.keys(block.rules ?? {})))], bans: BANS }))`
  const { stdout, stderr } = await runProcess(['--input-type=module', '--eval', script], ROOT)
  if (!stdout.startsWith('{')) throw new Error(`eslint.config.js could not be read: ${stderr}`)
  return JSON.parse(stdout) as LintConfiguration
}

export type PlantedLint = { readonly path: string; readonly text: string; readonly rule: string; readonly message?: string }

const lines = (count: number): string => Array.from({ length: count }, (_, i) => `  out.push(${i})\n`).join('')

const PLANTED_RULES: readonly PlantedLint[] = [
  {
    path: 'src/turn/floating.ts',
    text: 'declare const send: () => Promise<void>\nexport const f = () => { send() }\n',
    rule: '@typescript-eslint/no-floating-promises',
  },
  {
    path: 'src/turn/misused.ts',
    text: 'declare const send: () => Promise<boolean>\nexport const f = () => (send() ? 1 : 2)\n',
    rule: '@typescript-eslint/no-misused-promises',
  },
  {
    path: 'src/turn/not-exhaustive.ts',
    text: "export const f = (x: 'a' | 'b') => { switch (x) { case 'a': return 1; default: return 2 } }\n",
    rule: '@typescript-eslint/switch-exhaustiveness-check',
  },
  { path: 'src/turn/any.ts', text: 'export const f = (x: any) => String(x)\n', rule: '@typescript-eslint/no-explicit-any' },
  { path: 'src/turn/ignored.ts', text: '// @ts-ignore\nexport const x: number = 1\n', rule: '@typescript-eslint/ban-ts-comment' },
  { path: 'src/turn/environment.ts', text: "import { env } from 'node:process'\nexport const x = env\n", rule: 'no-restricted-imports' },
  { path: 'src/turn/long-file.ts', text: `export const out: number[] = []\n${lines(400)}`, rule: 'max-lines' },
  { path: 'src/turn/long-function.ts', text: `export function f(out: number[]) {\n${lines(59)}}\n`, rule: 'servo/own-lines' },
]

/** Without the types of Node, which take longer to read than all of these files. */
export const PLANTED_FRAME = {
  'test/a.ts': 'export {}\n',
  'bench/a.ts': 'export {}\n',
  'examples/a.ts': 'export {}\n',
  'tsconfig.json': JSON.stringify({
    compilerOptions: { strict: true, target: 'es2023', module: 'nodenext', types: [] },
    include: ['src', 'test', 'bench', 'examples'],
  }),
}

/** The compiler runs with ESLint; of this it has to complain by itself. */
export const WRONGLY_TYPED: Readonly<Record<string, string>> = { 'src/turn/wrongly-typed.ts': "export const a: number = '1'\n" }

/** A disabled rule must say something that ESLint would otherwise have said. */
export const NEEDLESS: Readonly<Record<string, string>> = {
  'src/turn/needless.ts': '// eslint-disable-next-line max-lines -- there is no reason\nexport const x = 1\n',
}

/** What looks like a violation and is none: the rule would be in the way. */
export const WELCOME: Readonly<Record<string, string>> = {
  'src/turn/factory.ts': `export function f(out: number[]) {\n  return {\n    a() {\n${lines(50)}    },\n    b() {\n${lines(50)}    },\n  }\n}\n`,
  'src/core/then.ts': 'export const then = (at: number) => new Date(at).toISOString()\n',
  'src/core/read.test.ts': 'export const now = async () => Date.now()\n',
  'src/cli/main.ts': 'export const home = process.env\n',
  'src/compactor/write.ts': 'declare const store: { put: (...of: string[]) => void }\nstore.put("a", "b", "0")\nexport {}\n',
  'src/turn/known.ts': 'export class KnownError extends Error {}\n',
}

export const plantedRules = (bans: readonly Ban[]): readonly PlantedLint[] => [
  ...PLANTED_RULES,
  ...bans.map(({ name, message, example, folder }, i) => ({
    path: `src/${folder}/banned-${i}.ts`,
    text: `${example}\n${/\b(import|export)\b/.test(example) ? '' : 'export {}\n'}`,
    rule: name === undefined ? 'no-restricted-syntax' : 'no-restricted-globals',
    message,
  })),
]
