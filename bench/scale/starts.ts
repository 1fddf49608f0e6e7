// How soon a second process has the hot state of a large workspace, and how soon a new API answers about it.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/fixtures/free-port.js'
import { TENANT_ID, WORKSPACE_ID } from '../../test/fixtures/say.js'
import { withCompiled } from '../compiled.js'
import { median, type Report } from '../report.js'
import { describeSize, type LargeSize, nextRun } from '../truth/large.js'
import { argumentsOf, inChild } from '../truth/memory.js'
import { appendInSegments, type BenchWorkspace, foldAll } from '../workspace.js'

const ROUNDS = 5

export async function benchTakeover(report: Report, large: BenchWorkspace, size: LargeSize): Promise<void> {
  const rounds: number[] = []
  for (let round = 0; round < ROUNDS; round++) rounds.push((await inChild('takeover', large, 0)).milliseconds ?? Number.NaN)
  const setup = `own process, its code loaded: pointer, documents and hot rows to the first turn over; ${ROUNDS} processes, median; ${describeSize(size)}`
  report.add({ name: 'takeover_ms', value: median(rounds), unit: 'ms', target: '≤ 1,000', setup })
}

/** As many as are published between two looks of a process that stands by, where something is published each second. */
const REVISIONS_BETWEEN_LOOKS = 6
const EVENTS_A_REVISION = 300

/** The same of one that has followed while this process published, and merged. */
export async function benchFollower(report: Report, large: BenchWorkspace, size: LargeSize): Promise<void> {
  const rounds: number[] = []
  for (let round = 0; round < ROUNDS; round++) rounds.push(await takeoverOfFollower(large))
  const setup = `own process that followed ${REVISIONS_BETWEEN_LOOKS} revisions of ${EVENTS_A_REVISION} events and a merge, and has as many before it; ${ROUNDS} processes, median; ${describeSize(size)}`
  report.add({ name: 'takeover_following_ms', value: median(rounds), unit: 'ms', target: '≤ 1,000', setup })
}

const takeoverOfFollower = (large: BenchWorkspace): Promise<number> =>
  withCompiled(async (compiled) => {
    const child = spawn(process.execPath, argumentsOf(compiled, 'follow', large, 0), { stdio: ['pipe', 'pipe', 'inherit'] })
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    await lines.next()
    await publishSome(large)
    await large.merge()
    child.stdin.write('\n')
    await lines.next()
    await publishSome(large)
    child.stdin.end('\n')
    const { value } = await lines.next()
    await new Promise((resolve) => child.once('close', resolve))
    return (JSON.parse(String(value)) as { readonly milliseconds: number }).milliseconds
  })

async function publishSome(large: BenchWorkspace): Promise<void> {
  for (let revision = 0; revision < REVISIONS_BETWEEN_LOOKS; revision++) {
    const runs = EVENTS_A_REVISION / EVENTS_A_RUN
    await appendInSegments(large, large.runs({ runs, first_run: await nextRun(large) }), EVENTS_A_RUN)
    await foldAll(large.turn)
  }
}

const EVENTS_A_RUN = 20

const SERVO = fileURLToPath(new URL('../../bin/servo.js', import.meta.url))

export async function benchColdStart(report: Report, { folder }: BenchWorkspace, size: LargeSize): Promise<void> {
  const rounds: number[] = []
  for (let round = 0; round < ROUNDS; round++) rounds.push(await coldStart(folder))
  const setup = `from the start of the process \`servo api\` to the first page of runs in full; ${ROUNDS} processes, median, files in the system's cache; ${describeSize(size)}`
  report.add({ name: 'cold_start_ms', value: median(rounds), unit: 'ms', target: '≤ 1,000', setup })
}

async function coldStart(folder: string): Promise<number> {
  const port = await freePort()
  const environment = {
    SERVO_TENANT: TENANT_ID,
    SERVO_WORKSPACE: WORKSPACE_ID,
    SERVO_STORE: `local:${join(folder, 'store')}`,
    SERVO_SECRETS: 'k1:a-secret-of-this-benchmark',
    SERVO_PORT: String(port),
    SERVO_CACHE: join(folder, 'api-cache'),
  }
  const started = performance.now()
  const child = spawn(process.execPath, [SERVO, 'api'], { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    await new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve))
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/orchestration/runs?limit=50`)
    const { runs } = (await answer.json()) as { readonly runs?: readonly unknown[] }
    if (runs?.length !== 50) throw new Error(`The API answered ${answer.status} with ${runs?.length} runs.`)
    return performance.now() - started
  } finally {
    child.kill('SIGTERM')
    await new Promise((resolve) => child.once('close', resolve))
  }
}
