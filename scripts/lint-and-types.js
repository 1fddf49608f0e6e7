// ESLint and the compiler over one program: reading and checking the types is most of what either does, so two
// processes would do it twice. `npx eslint src` and `npx tsc -p .` say the same, each for itself.

import { ESLint } from 'eslint'
import ts from 'typescript'
import { ROOT } from './build-state.js'

const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (diagnostic) => fail([diagnostic]) }
const config = ts.getParsedCommandLineOfConfigFile(`${ROOT}tsconfig.json`, {}, host)
const program = ts.createProgram(config.fileNames, config.options)

const diagnostics = [...config.errors, ...ts.getPreEmitDiagnostics(program)]
if (diagnostics.length > 0) fail(diagnostics)

const eslint = new ESLint({ cwd: ROOT, overrideConfig: { languageOptions: { parserOptions: { programs: [program] } } } })
const results = await eslint.lintFiles(['src', 'test', 'bench', 'examples'])
const formatter = await eslint.loadFormatter(process.argv[2] ?? 'stylish')
process.stdout.write(`${await formatter.format(results)}\n`.trimStart())
if (results.some(({ errorCount }) => errorCount > 0)) process.exitCode = 1
console.log(`${config.fileNames.length} files type-checked, ${results.length} linted`)

function fail(faults) {
  const text = { getCanonicalFileName: (name) => name, getCurrentDirectory: () => ROOT, getNewLine: () => '\n' }
  process.stdout.write(ts.formatDiagnostics(faults, text))
  process.exitCode = 1
}
