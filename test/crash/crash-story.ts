// One story for all crash points: two writers, two deciders with several rounds, a schedule that is triggered and that
// ticks, a worker, merges, a packing and a collection. It goes on whatever happens to its actors: who is killed comes again with
// nothing but the store, and says again what it had not heard to be durable.

import { reconcileSchedules } from '../../src/controllers/schedules.js'
import { isOperatingError, messageOf } from '../../src/core/errors.js'
import { sha256Hex } from '../../src/core/hash.js'
import { manualScheduleRunKey, manualTickId } from '../../src/core/keys.js'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.js'
import { segmentName } from '../../src/ledger/segment.js'
import type { ObjectStore } from '../../src/storage/object-store.js'
import type { TableFiles } from '../../src/tables/table-files.js'
import type { Reconcile } from '../../src/turn/reconcile.js'
import { type CrashCall, type CrashPoint, createCrashScript } from '../faults/crash-store.js'
import { namedPacks, PACKS, packedSegments, singleName } from '../fixtures/packs.js'
import { foldedSegments, readStoredPointer } from '../fixtures/reachable.js'
import { collect, createDecider, createTableReader, createWriter, findMissed, merge, pack } from '../fixtures/roles.js'
import { createSpeaker, ulidOf } from '../fixtures/say.js'
import { IDENTITY } from '../fixtures/schedule-story.js'
import { stubDecider } from '../fixtures/stub-decider.js'
import { createVirtualTime, type VirtualTime } from '../fixtures/virtual-time.js'
import { checkBound, REVISIONS } from '../fixtures/volumes.js'
import { createWorker } from '../fixtures/worker.js'
import { createWorld, type Process, type World } from '../fixtures/world.js'
import { checkWorld } from '../invariants/check.js'
import { type Evidence, listAll } from '../invariants/evidence.js'

export type CrashRun = {
  /** Of the story itself, without the rest that follows it. */
  readonly calls: readonly CrashCall[]
  readonly reached: readonly CrashPoint[]
  readonly problems: readonly string[]
}

export type CrashSetting = {
  /** Another store than memory, empty. */
  readonly openStore?: (time: VirtualTime) => ObjectStore
  readonly filesIn?: (bucket: ObjectStore, time: VirtualTime) => TableFiles
  /** Different for every run of one process: names of files follow from it. */
  readonly seed?: number
  /** When calls that were held back take effect. */
  readonly release_after_ms?: number
}

/** Longer than any client waits, and shorter than the story. */
const RELEASE_AFTER_MS = 90_000
const TRIES_MAX = 8
const NIGHTLY = ulidOf('nightly')
/** Revisions a page of the chain: the story has a few of them. */
const PAGE = 3

const stub = stubDecider()
const reconcile: Reconcile = { ...stub, decide: (state) => [...reconcileSchedules(state, IDENTITY), ...stub.decide(state)] }

export async function runCrashStory(points: readonly CrashPoint[], setting: CrashSetting = {}): Promise<CrashRun> {
  const time = createVirtualTime()
  const script = createCrashScript(points)
  const store = setting.openStore?.(time)
  const { filesIn, release_after_ms = RELEASE_AFTER_MS } = setting
  let files: TableFiles | undefined
  const world = createWorld({
    time,
    seed: setting.seed ?? 1,
    latency_ms: () => 4,
    ...(store === undefined ? {} : { store }),
    ...(filesIn === undefined ? {} : { filesOf: (bucket: ObjectStore) => (files ??= filesIn(bucket, time)) }),
    wrap: (bucket, { name, kill }) => script.store(bucket, name, kill),
  })
  const release = () => void time.sleep(release_after_ms).then(script.release)
  const stop = world.intercept(({ phase }) => {
    if (phase === 'before' && script.reached.length > 0) {
      stop()
      release()
    }
  })
  const problems: string[] = []
  let call_count = 0
  try {
    await time.until(tell(world))
    call_count = script.calls.length
    await time.until(rest(world, script.release))
    problems.push(...(await checkWorld(world, checkAllDone)))
  } catch (error) {
    problems.push(`The story broke off: ${messageOf(error)}`)
  }
  return { calls: script.calls.slice(0, call_count), reached: script.reached, problems }
}

/** An actor that outlives its processes. */
function createActor<Role>(world: World, name: string, assume: (process: Process) => Role) {
  let process: Process | undefined
  let role: Role | undefined
  let lives = 0
  /** Until it is done: killed, it starts afresh; without an answer, it tries again. */
  return async function act<Answer>(work: (role: Role) => Promise<Answer>): Promise<Answer> {
    let failure: unknown
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      if (process === undefined || role === undefined || process.isGone()) {
        process = world.start(`${name} ${++lives}`)
        role = assume(process)
      }
      try {
        const done = await Promise.race([work(role).then((answer) => ({ answer })), process.gone])
        if (done !== undefined) return done.answer
      } catch (error) {
        if (!isOperatingError(error)) throw error
        failure = error
      }
      await world.time.sleep(500)
    }
    throw new Error(`${name} came to no end in ${TRIES_MAX} tries: ${messageOf(failure)}`)
  }
}

async function tell(world: World): Promise<void> {
  const say = createSpeaker()
  const writer = (name: string) => createActor(world, name, (process) => createWriter(world, process))
  const decider = (name: string) => createActor(world, name, (process) => createDecider(world, process, { reconcile }))
  const [one, two] = [writer('writer one'), writer('writer two')]
  const [first, second] = [decider('first decider'), decider('second decider')]
  const worker = createActor(world, 'worker', (process) => createWorker(world, process))
  const keeper = createActor(world, 'keeper', (process) => process)
  const collector = createActor(world, 'collector', (process) => process)
  const reader = createActor(world, 'reader', (process) => createTableReader(world, process))
  const b = say.assetDefined('b', { deps: [{ asset_key: 'a' }] })
  const nightly = say.scheduleDefined(NIGHTLY, { cron_expressions: ['0 0 * * *'] }, {}, { at: world.time.now() })
  const deploy = [say.locationDeployed('main', 0), say.assetDefined('a'), b, say.poolDefined('global', 2), nightly]
  const rival = say.runRequested('user:1', { request_fingerprint: sha256Hex('rival') })
  await one(({ append }) => append(deploy))
  await first(({ turn }) => turn())
  const runs = [say.runRequested('user:1', { assets: { keys: ['a', 'b'] } }), ...triggered(say, world.time.now())]
  await Promise.all([one(({ append }) => append(runs)), two(({ append }) => append([rival]))])
  await Promise.all([first(({ turn }) => turn()), second(({ turn }) => turn())])
  await worker(({ work }) => work())
  // Settings that collection goes by further on.
  const late = [
    say.runRequested('user:2', { assets: { keys: ['b'] } }),
    say.retentionChanged({ as_of_minutes_hours: 2, refusals_days: 14 }),
  ]
  await Promise.all([keeper((process) => merge(process)), second(({ turn }) => turn()), two(({ append }) => append(late))])
  await Promise.all([first(({ turn }) => turn()), reader(({ look }) => look(['runs', 'tasks', 'pools', 'schedule_ticks']))])
  await world.time.sleep(DAY_MS + 2 * HOUR_MS)
  await Promise.all([second(({ turn }) => turn()), keeper((process) => collect(process))])
  // The pages that are full, and then those of them that are past the window, while a turn goes on.
  await keeper((process) => merge(process, true, PAGE))
  await Promise.all([keeper((process) => pack(process)), first(({ turn }) => turn())])
  // Until the rows of these days have gone cold.
  await world.time.sleep(9 * DAY_MS)
  await two(({ append }) => append([say.poolDefined('global', 3)]))
  await first(({ turn }) => turn())
  await worker(({ work }) => work())
  await first(({ turn }) => turn())
  await Promise.all([keeper((process) => merge(process)), second(({ turn }) => turn())])
  // And once more, when their month is over and gets its filters.
  await world.time.sleep(30 * DAY_MS)
  await second(({ turn }) => turn())
  // What is to be collected by then is old, and what is merged is not.
  await Promise.all([keeper((process) => merge(process)), collector((process) => collect(process))])
  await Promise.all([keeper((process) => collect(process)), collector((process) => collect(process))])
}

/** A tick that somebody asks for, and its run, in one batch. */
function triggered(say: ReturnType<typeof createSpeaker>, at: number) {
  const tick = say.scheduleTriggered(NIGHTLY, 'by-hand', 1, at)
  const trigger = { type: 'SCHEDULE', schedule_id: NIGHTLY, tick_id: manualTickId(NIGHTLY, 'by-hand') } as const
  return [tick, say.runRequested(manualScheduleRunKey(NIGHTLY, 'by-hand'), { trigger }, { at, causation_id: tick.event_id })]
}

/** Faults off, everybody starts again: two turns must be enough for what was acknowledged, whatever happened before. */
async function rest(world: World, release: () => Promise<void>): Promise<void> {
  await release()
  await world.time.sleep(MINUTE_MS)
  const { turn } = createDecider(world, world.start('last decider'), { reconcile })
  for (let rounds = 0; (await turn()).more; rounds++) if (rounds === 3) throw new Error('A turn of a quiet workspace came to no end.')
  await turn()
  const foldedAt = await foldedSegments(world.bucket)
  for (const { head } of world.oracle.acks) {
    if (!foldedAt.has(segmentName(head.name)))
      world.oracle.problems.push(`I17 ${head.name} was acknowledged and is not folded after two turns.`)
  }
  const keeper = world.start('last keeper')
  await turn({ missed: await findMissed(world, keeper) })
  const worker = createWorker(world, world.start('last worker'))
  for (let rounds = 0; (await worker.work()) > 0; rounds++) {
    if (rounds === 10) throw new Error('Dispatched work came to no end.')
    await turn()
  }
  await turn()
  await merge(keeper, true, PAGE)
  await world.time.sleep(DAY_MS + 2 * HOUR_MS)
  // Whole, because what a binding that died has left over goes with the next page, and there is none after this.
  const { left } = await pack(keeper, { whole: true })
  world.oracle.problems.push(...left)
  await collect(keeper)
  world.oracle.problems.push(...(await checkPacked(world)))
}

/** Of every full page each segment lies in a pack and each revision in a volume, and nowhere else, and no pack is left that
 *  nobody names. */
async function checkPacked({ bucket }: World): Promise<string[]> {
  const pointer = await readStoredPointer(bucket)
  const packed = await packedSegments(bucket)
  const named = new Set(await namedPacks(bucket))
  const problems: string[] = []
  for (const [name, sequence] of await foldedSegments(bucket)) {
    const isDue = sequence <= (pointer?.chain_through ?? 0)
    if (isDue !== packed.has(name)) problems.push(`P1 Segment ${name} of revision ${sequence} is ${isDue ? 'not packed' : 'packed'}.`)
    const isSingle = (await bucket.head(singleName(name))).kind === 'found'
    if (isDue === isSingle) problems.push(`P1 Segment ${name} of revision ${sequence} ${isSingle ? 'is' : 'is not'} in its own place.`)
  }
  if (packed.size === 0) problems.push('P1 Nothing was packed.')
  const revisions = (await listAll(bucket, REVISIONS)).map(({ name }) => name)
  problems.push(...(await checkBound(bucket, pointer?.chain_through ?? 0, revisions)))
  for (const { name } of await listAll(bucket, PACKS)) if (!named.has(name)) problems.push(`P1 ${name} is an orphan and was not collected.`)
  return problems
}

const TICKED = new RegExp(`^sched:${NIGHTLY}:\\d+ SUCCEEDED$`)
const OTHERS_DONE = `${manualScheduleRunKey(NIGHTLY, 'by-hand')} SUCCEEDED,user:1 SUCCEEDED,user:2 SUCCEEDED`

/** I17: nothing is left in the ledger that no revision folded, and the work that was asked for is done. */
function checkAllDone({ ledger, foldedAt, live }: Evidence): string[] {
  const problems = [...ledger.keys()].filter((name) => !foldedAt.has(name)).map((name) => `I17 ${name} stays unfolded.`)
  const runs = (live.get('runs') ?? []).map(({ run_key, state }) => `${String(run_key)} ${String(state)}`).sort()
  // Which of two rivals for one key comes first is a matter of time: both can succeed, and the other leaves a conflict.
  const others = runs.filter((run) => !TICKED.test(run))
  // One for each time that somebody came back: of what was missed for longer, nothing runs.
  if (runs.length - others.length !== 3 || others.join() !== OTHERS_DONE) problems.push(`I17 The runs came to ${runs.join(', ')}.`)
  const ticks = (live.get('schedule_ticks') ?? []).map(({ kind, status }) => `${String(kind)} ${String(status)}`).sort()
  if (ticks.join() !== 'CRON SKIPPED,CRON TRIGGERED,CRON TRIGGERED,CRON TRIGGERED,MANUAL TRIGGERED')
    problems.push(`I32 The ticks came to ${ticks.join(', ')}.`)
  if (live.get('run_key_conflicts')?.length !== 1) problems.push('I8 The rival request left no conflict.')
  return problems
}
