// `npm run crash [-- STAGE …] [--sample N] [--points AT:HOW,…] [--shard I/N]`: crashes the story at every point on every
// stage, or at one point in N with every sort of them (SERVO_SEED draws). The last line says how many, and how many failed.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createRandom } from '../fixtures/random.js'
import { type Enumeration, enumerate } from './enumerate.js'
import { type PointSet, pointsIn, type Shard, shardOf } from './points.js'
import { STAGE_NAMES, STAGES, type Stage, type StageName } from './stages.js'

/** Processes at once, where nobody has divided the work already. */
const SHARDS = 2
/** A story that is shorter than this has lost what it was written for. */
const CALLS_MIN = 200

type Totals = { readonly run_count: number; readonly failure_count: number }
type Wanted = { readonly stages: readonly StageName[]; readonly one_in: number; readonly points?: PointSet; readonly shard?: Shard }

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const seed = Number(process.env['SERVO_SEED'] ?? 1)
const args = process.argv.slice(2)

process.exitCode = await main()

async function main(): Promise<number> {
  const wanted = read()
  const isAll = wanted.shard === undefined && wanted.points === undefined
  const { run_count, failure_count } = isAll ? await runShards() : await runStages(wanted)
  console.log(`crash points run ${run_count}, failures ${failure_count}`)
  return failure_count === 0 ? 0 : 1
}

function read(): Wanted {
  const options = { sample: { type: 'string' }, points: { type: 'string' }, shard: { type: 'string' } } as const
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const unknown = positionals.find((name) => !STAGE_NAMES.includes(name as StageName))
  if (unknown !== undefined) refuse(`There is no stage ${unknown}. There are: ${STAGE_NAMES.join(', ')}.`)
  const stages = positionals.length === 0 ? STAGE_NAMES : (positionals as StageName[])
  const one_in = Number(values.sample ?? 1)
  if (!Number.isSafeInteger(one_in) || one_in < 1) refuse('--sample is one point in how many: a whole number from 1 on.')
  if (!Number.isSafeInteger(seed)) refuse('SERVO_SEED has to be a whole number.')
  const points = values.points === undefined ? undefined : pointsIn(values.points)
  if (values.points !== undefined && (points === undefined || stages.length !== 1)) {
    refuse('Name one stage, and the points as in --points 17:late or --points 17:late,20:before.')
  }
  const [, number, count] = /^(\d+)\/(\d+)$/.exec(values.shard ?? '1/1') ?? []
  const shard = { number: Number(number), count: Number(count) }
  if (!(shard.number >= 1 && shard.number <= shard.count)) refuse('--shard is a number and a count, as in 1/2.')
  return {
    stages,
    one_in,
    ...(points === undefined ? {} : { points }),
    ...(values.shard === undefined ? {} : { shard }),
  }
}

function refuse(why: string): never {
  console.error(why)
  process.exit(2)
}

async function runStages({ stages, one_in, points, shard = { number: 1, count: 1 } }: Wanted): Promise<Totals> {
  let [run_count, failure_count] = [0, 0]
  for (const name of stages) {
    const began = performance.now()
    const { drawn, run_count: own_count, reached_count, failures } = await runStage(name, one_in, points, shard)
    run_count += own_count
    failure_count += failures.length
    for (const failure of failures) console.log(failure)
    const seconds = ((performance.now() - began) / 1_000).toFixed(1)
    const part = shard.count === 1 ? '' : `, part ${shard.number} of ${shard.count}`
    console.log(`note: ${own_count} ${STAGES[name].what}${drawn}${part}: ${reached_count} reached, ${seconds} s`)
  }
  return { run_count, failure_count }
}

/** `drawn`: says what was left to chance. */
async function runStage(
  name: StageName,
  one_in: number,
  points: PointSet | undefined,
  shard: Shard,
): Promise<Enumeration & { readonly drawn: string }> {
  const stage: Stage = STAGES[name]
  const { run, close } = stage.open()
  try {
    if (points !== undefined) return { ...(await enumerate(name, [points], run)), drawn: '' }
    const { calls, problems } = await run([])
    if (problems.length > 0 || calls.length < CALLS_MIN) {
      const failure = `Without any crash the story of ${calls.length} calls does not hold on ${name}: ${problems.join(' ')}`
      return { run_count: 0, reached_count: 0, failures: [failure], drawn: '' }
    }
    const random = createRandom(`crash/${name}/${seed}`)
    const all_count = stage.setsOf(calls, 1, random.fork('all')).length
    const sets = stage.setsOf(calls, one_in, random.fork('sample'))
    const isDrawn = stage.is_random || sets.length < all_count
    const drawn = isDrawn ? `, ${sets.length}${stage.is_random ? '' : ` of ${all_count}`} drawn by SERVO_SEED=${seed}` : ''
    return { ...(await enumerate(name, shardOf(sets, shard), run)), drawn }
  } finally {
    await close()
  }
}

async function runShards(): Promise<Totals> {
  const parts = await Promise.all(Array.from({ length: SHARDS }, (_, index) => runShard(`${index + 1}/${SHARDS}`)))
  return {
    run_count: parts.reduce((sum, part) => sum + part.run_count, 0),
    failure_count: parts.reduce((sum, part) => sum + part.failure_count, 0),
  }
}

function runShard(shard: string): Promise<Totals> {
  const child = spawn(process.execPath, ['scripts/run.js', 'test/crash/main.ts', ...args, '--shard', shard], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let rest = ''
  let totals: Totals | undefined
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      totals = totalsIn(line)
      if (totals === undefined) console.log(line)
    }
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    // Whoever died without a last line has failed, whatever it said before.
    child.once('close', (code) =>
      resolve(totals !== undefined && (code === 0) === (totals.failure_count === 0) ? totals : { run_count: 0, failure_count: 1 }),
    )
  })
}

function totalsIn(line: string): Totals | undefined {
  const [, run_count, failure_count] = /^crash points run (\d+), failures (\d+)$/.exec(line) ?? []
  return run_count === undefined ? undefined : { run_count: Number(run_count), failure_count: Number(failure_count) }
}
