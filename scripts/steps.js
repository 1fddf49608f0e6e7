// A step is one process with a name: a tool that passes or fails as a whole, or a jest run that counts its tests.
// One line for each when it ends, and the output of those that failed.

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { ROOT } from './build-state.js'

/** A step that hangs must not take the closing line with it; longer than any one test in it may take. */
const STEP_TIMEOUT_MS = 15 * 60_000

const running = new Set()

/** A tool: `args` for node. It counts as one. `last_line`: what it ends with is worth seeing when all is well, too. */
export const tool = (name, args, options = {}) => ({ name, args, tally: toolTally, last_line: options.last_line === true })

let reports
process.on('exit', () => reports !== undefined && rmSync(reports, { recursive: true, force: true }))

/** A jest run over the test files whose path, from the root, matches one of the patterns; one file after another, for
 *  there is another step beside it. */
export const suite = (name, patterns) => {
  reports ??= mkdtempSync(`${tmpdir()}/servo-jest-`)
  const report = `${reports}/${name.replace(/\W+/g, '-')}.json`
  return {
    name,
    args: [
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      `${ROOT}node_modules/jest/bin/jest.js`,
      '--runInBand',
      '--json',
      `--outputFile=${report}`,
      ...patterns.map((pattern) => `^${escaped(ROOT)}${pattern}`),
    ],
    tally: (code) => {
      try {
        return suiteTally(JSON.parse(readFileSync(report, 'utf8')), code)
      } catch {
        return { passed: 0, failed: 1, skipped: [] }
      }
    },
  }
}

const escaped = (path) => path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const toolTally = (code) => (code === 0 ? { passed: 1, failed: 0, skipped: [] } : { passed: 0, failed: 1, skipped: [] })

export function suiteTally(report, code) {
  const tests = report.testResults.flatMap((file) => file.assertionResults)
  // A file that could not be loaded has no tests to fail, and counts as one.
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'),
  )
  const passed = tests.filter((test) => test.status === 'passed').length
  const failed = tests.filter((test) => test.status === 'failed').length + broken.length
  const skipped = tests.filter((test) => test.status === 'pending' || test.status === 'todo').map((test) => test.fullName)
  const isEmpty = passed + failed + skipped.length === 0
  // jest may fail without a failed test (an error outside of them), and a run of no tests proves nothing.
  return { passed, failed: failed === 0 && (code !== 0 || isEmpty) ? 1 : failed, skipped }
}

export const ANY = () => true

/** Runs them in order and answers the sum. As many run side by side as there are `lanes`: each says of a step whether it
 *  would rather have it, and takes what there is once there is none of these. */
export async function runSteps(steps, lanes, total = { passed: 0, failed: 0, skipped: [] }) {
  const waiting = [...steps]
  const next = (isPreferred) => waiting.splice(Math.max(0, waiting.findIndex(isPreferred)), 1)[0]
  const run = async (isPreferred) => {
    for (let step = next(isPreferred); step !== undefined; step = next(isPreferred)) add(total, await runStep(step))
  }
  await Promise.all(lanes.map(run))
  return total
}

function add(total, { passed, failed, skipped }) {
  total.passed += passed
  total.failed += failed
  total.skipped.push(...skipped)
}

async function runStep(step) {
  const began = Date.now()
  const { code, output } = await runProcess(step.args)
  const tally = step.tally(code)
  const time = `${((Date.now() - began) / 1000).toFixed(1)} s`.padStart(8)
  const counts =
    tally.passed + tally.failed + tally.skipped.length === 1
      ? ''
      : `  ${tally.passed} passed${tally.failed === 0 ? '' : `, ${tally.failed} failed`}`
  console.log(`${tally.failed === 0 ? 'ok  ' : 'FAIL'} ${step.name.padEnd(16)}${time}${counts}`)
  // What a step wants to be seen when all is well: how many crash points, how many seeds.
  const lines = output.trimEnd().split('\n')
  if (step.last_line && tally.failed === 0) console.log(`     ${lines.at(-1)}`)
  for (const line of lines) if (/^\s*note: /.test(line)) console.log(`     ${line.trim().slice('note: '.length)}`)
  if (tally.failed > 0) console.log(`${output.trimEnd()}\n`)
  return tally
}

function runProcess(args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, env: { ...process.env, NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'pipe'] })
    const chunks = []
    running.add(child)
    child.stdout.on('data', (chunk) => chunks.push(chunk))
    child.stderr.on('data', (chunk) => chunks.push(chunk))
    const timer = setTimeout(() => {
      chunks.push(Buffer.from(`\nIt was ended after ${STEP_TIMEOUT_MS / 60_000} minutes.\n`))
      child.kill('SIGKILL')
    }, STEP_TIMEOUT_MS)
    const end = (code) => {
      clearTimeout(timer)
      running.delete(child)
      resolve({ code, output: Buffer.concat(chunks).toString('utf8') })
    }
    child.on('error', (error) => {
      chunks.push(Buffer.from(error.message))
      end(1)
    })
    child.on('close', (code) => end(code ?? 1))
  })
}

export function stopAll() {
  for (const child of running) child.kill('SIGTERM')
}

/** The closing line, with the reason of every skipped test above it. A title says its reason after `skipped:`. */
export function close(total) {
  for (const title of total.skipped) {
    const [name, reason] = title.split(/\s*\(?skipped: /)
    console.log(`skipped: ${name}: ${reason === undefined ? 'no reason given' : reason.replace(/\)$/, '')}`)
  }
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped.length} skipped`)
  return total.failed === 0 ? 0 : 1
}
