// A copy of the repository to break, and one test or command run in it. Node's own modules alone: what is broken here must not be
// what runs the checks.

import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Check, CommandCheck, Edit, TestCheck } from './mutant.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const COPIED = ['src', 'test', 'scripts', 'package.json', 'jest.config.js', 'tsconfig.json']
/** Longer than any of these tests takes on a busy machine. */
const CHECK_TIMEOUT_MS = 90_000

export type Copy = { readonly folder: string; readonly remove: () => void }

export function createCopy(): Copy {
  const folder = mkdtempSync(join(tmpdir(), 'servo-mutants-'))
  for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  // Also when the whole suite is stopped half-way.
  process.once('exit', remove)
  return { folder, remove }
}

/** Why the edit cannot be made; undefined: it can. A mutant that does not apply any more proves nothing. */
export function editFault({ file, find }: Edit): string | undefined {
  const count = readFileSync(join(ROOT, file), 'utf8').split(find).length - 1
  return count === 1 ? undefined : `${file} contains its text ${count} times, not once: ${find}`
}

/** Makes the edits, and answers what takes them back. */
export function edit({ folder }: Copy, edits: readonly Edit[]): () => void {
  const originals = new Map<string, string>()
  for (const { file, find, replace } of edits) {
    const path = join(folder, file)
    const text = readFileSync(path, 'utf8')
    if (!originals.has(path)) originals.set(path, text)
    writeFileSync(
      path,
      text.replace(find, () => replace),
    )
  }
  return () => {
    for (const [path, text] of originals) writeFileSync(path, text)
  }
}

export type Verdict = {
  /** `broken`: nothing could be said, because the file did not load or the test is not there. */
  readonly kind: 'passed' | 'failed' | 'timed_out' | 'broken'
  /** The title of the first test that failed, or what was wrong. */
  readonly detail: string
  readonly duration_ms: number
}

type Report = {
  readonly testResults: readonly {
    readonly message: string
    readonly assertionResults: readonly {
      readonly title: string
      readonly status: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

export const titleOf = (check: Check): string => ('title' in check ? check.title : check.args.join(' '))

/** Runs these tests and commands and no others; the first verdict that is not `passed`, if there is one. */
export async function runChecks(copy: Copy, checks: readonly Check[]): Promise<Verdict> {
  const began = performance.now()
  const tests = checks.filter((check) => 'title' in check)
  let verdict: Omit<Verdict, 'duration_ms'> = PASSED
  if (tests.length > 0) verdict = await runTests(copy, tests)
  for (const check of checks) if ('args' in check && verdict.kind === 'passed') verdict = await runCommand(copy, check)
  return { ...verdict, duration_ms: performance.now() - began }
}

const PASSED = { kind: 'passed', detail: '' } as const
const TIMED_OUT = { kind: 'timed_out', detail: `It was ended after ${CHECK_TIMEOUT_MS / 1_000} s.` } as const

/** As scripts/run.js does it, but without its set-up: the packages are those of the repository. */
async function runCommand({ folder }: Copy, { file, args, says }: CommandCheck): Promise<Omit<Verdict, 'duration_ms'>> {
  const { isTimeUp, code, output } = await runNode(['--import', './scripts/typescript.js', file, ...args], folder)
  if (isTimeUp) return TIMED_OUT
  if (code === 0) return PASSED
  return { kind: code === 1 && output.includes(says) ? 'failed' : 'broken', detail: output.trim() }
}

async function runTests({ folder }: Copy, checks: readonly TestCheck[]): Promise<Omit<Verdict, 'duration_ms'>> {
  const report = join(folder, 'report.json')
  rmSync(report, { force: true })
  const titles = checks.map(({ title }) => `${escaped(title)}$`).join('|')
  const files = [...new Set(checks.map(({ file }) => file))].map((file) => `${escaped(join(folder, file))}$`)
  const jest = join(folder, 'node_modules/jest/bin/jest.js')
  const args = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', jest, '--runInBand', '--watchman=false']
  const options = [`--cacheDirectory=${join(folder, 'cache')}`, '--json', `--outputFile=${report}`, `--testNamePattern=${titles}`]
  const ended = await runNode([...args, ...options, ...files], folder)
  return ended.isTimeUp ? TIMED_OUT : verdictOf(report, checks, ended.output)
}

function verdictOf(path: string, checks: readonly TestCheck[], output: string): Omit<Verdict, 'duration_ms'> {
  let report: Report
  try {
    report = JSON.parse(readFileSync(path, 'utf8')) as Report
  } catch {
    return { kind: 'broken', detail: output.trim() }
  }
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults)
  const ran = new Set(tests.filter(({ status }) => status === 'passed' || status === 'failed').map(({ title }) => title))
  const absent = checks.find(({ title }) => !ran.has(title))
  if (absent !== undefined) {
    const message = report.testResults.map((file) => file.message).join('\n')
    return { kind: 'broken', detail: `${absent.file} did not run "${absent.title}". ${message}`.trim() }
  }
  const failed = tests.find(({ status }) => status === 'failed')
  if (failed === undefined) return PASSED
  const [message = ''] = failed.failureMessages
  const detail = `${failed.title}\n${message}`
  // A mutant with a slip of the pen is no mutant.
  if (/^(ReferenceError|SyntaxError)/.test(message)) return { kind: 'broken', detail }
  return { kind: /Exceeded timeout of/.test(message) ? 'timed_out' : 'failed', detail }
}

type Ended = { readonly isTimeUp: boolean; readonly code: number | null; readonly output: string }

function runNode(args: readonly string[], cwd: string): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, env: { ...process.env, NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'pipe'] })
    const stop = () => void child.kill('SIGKILL')
    process.once('exit', stop)
    let output = ''
    let isTimeUp = false
    // A check that hangs must not hold up those of the other mutants.
    const timer = setTimeout(() => {
      isTimeUp = true
      stop()
    }, CHECK_TIMEOUT_MS)
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
    child.once('error', reject)
    child.once('close', (code) => {
      clearTimeout(timer)
      process.removeListener('exit', stop)
      resolve({ isTimeUp, code, output })
    })
  })
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
