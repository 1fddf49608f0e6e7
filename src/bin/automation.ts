// The automation process: it runs the loops of one workspace, the turns that they call for, and the hand-over of what the
// turns publish. It holds the hot state, and nothing that another process could not load again.

import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Worker, type WorkerOptions } from '@temporalio/worker'
import { askHealth, isAnyOut, watchApi } from '../activities/api-watch.js'
import { createCancelPush } from '../activities/cancel-push.js'
import type { DispatchPort } from '../activities/dispatch.js'
import { ensureLoops, type LoopsDeps, pokeSchedule, pokeWorkspace, startScheduleLoop } from '../activities/ensure-loops.js'
import { createHandOver, type HandOverDeps } from '../activities/hand-over.js'
import { type Activities, createActivities } from '../activities/index.js'
import { keepEnsured } from '../activities/keep-ensured.js'
import { createPoker } from '../activities/poke.js'
import { createAsk } from '../activities/schedules/ask.js'
import { createSchedulePokes } from '../activities/schedules/pokes.js'
import { signalWorkspace } from '../activities/signal-workspace.js'
import { postSigned } from '../activities/signed-post.js'
import { BACKSTOP_IDLE_MS_MAX, BACKSTOP_MS } from '../core/limits.js'
import { LOOP_SIGNALS_AT_ONCE, SCHEDULE_CALLS_AT_ONCE } from '../core/loop-limits.js'
import { TASK_QUEUES } from '../core/names.js'
import { MINUTE_MS } from '../core/time.js'
import { TALLIED } from '../projections/tally.js'
import { createCurrent } from '../readers/current.js'
import { readSchedules } from '../readers/schedules.js'
import { type AutomationMetrics, createAutomationMetrics } from '../telemetry/automation-metrics.js'
import { serveMetrics } from '../telemetry/listener.js'
import { createReconcile } from '../turn/controllers.js'
import { keepFollowing } from '../turn/keep-following.js'
import { createTurn, type Turn } from '../turn/turn.js'
import type { LoopTimings } from '../workflows/contract.js'
import { clockUntil } from './clock.js'
import type { AutomationConfig } from './config.js'
import { type Deps, openAppender, openDeps, openReader, turnDeps } from './deps.js'
import { openDispatch } from './dispatch.js'
import { openClient } from './temporal.js'
import { connectWorker, installRuntime } from './temporal-worker.js'
import { attributesOf, openTracing } from './tracing.js'

type Automation = {
  /** Ends what is under way, and leaves the loops to whoever comes next. */
  readonly stop: () => Promise<void>
  /** Resolves when it has ended, whoever ended it; rejects when a worker failed. */
  readonly ended: Promise<void>
}

export type AutomationOptions = {
  readonly log: (message: string) => void
  readonly timings?: LoopTimings
  /** The workflows, bundled ahead: a path, or a folder of sources for tests. */
  readonly workflows?: Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'>
}

const TIMINGS: LoopTimings = { backstop_ms: BACKSTOP_MS, backstop_ms_max: BACKSTOP_IDLE_MS_MAX, maintenance_ms: 10 * MINUTE_MS }
/** A turn is over within seconds; what takes longer is cut off and done again by the next process. */
const SHUTDOWN_GRACE_MS = 10_000
const SHUTDOWN_FORCE_MS = 15_000
/** Loops of one workspace: of a thousand schedules, and a few. One that is not kept is replayed from its history with each
 *  look; each that is takes some 0.1 MB. */
const CACHED_WORKFLOWS_MAX = 1_100
/** How long a step of a loop waits for the process that has the loop in its memory. That one may be dead, and another can
 *  read the loop's history within a moment. */
const STICKY_WAIT_MS = 3_000

export async function startAutomation(config: AutomationConfig, options: AutomationOptions): Promise<Automation> {
  const { log } = options
  const timings = options.timings ?? TIMINGS
  const { tenant_id, workspace_id } = config.workspace
  const scope = { tenant_id, workspace_id }
  installRuntime(log)
  const connection = await connectWorker(config.temporal)
  const { client, close: closeClient } = openClient(config.temporal)
  const deps = await openDeps(config.workspace)
  const metrics = createAutomationMetrics(TALLIED)
  const tracing = await openTracing({ ...config, service_name: 'servo-automation', attributes: attributesOf(scope), log })
  const appender = await openAppender({ ...deps, tracing }, log, metrics.append)
  const stopping = new AbortController()
  const closed = stopping.signal
  const signal = () => signalWorkspace({ client, scope })
  const poke = createPoker({ signal, clock: clockUntil(deps.clock, closed), closed, log, onPoke: metrics.poke })
  const dispatching = await openDispatch(config.dispatch, { clock: deps.clock, worker_secrets: config.worker_secrets, log })
  const submit = { scope, appender, random: deps.random, poke, tracing }
  const loops = { client, scope }
  const work = createWork({ config, deps, port: dispatching.port, submit, loops, metrics, log, closed })
  const { turn, hand_over, current } = work
  const calls = { current, ask: createAsk({ current, poke }), submit, secrets: config.secrets }
  const activities = createActivities({ ...turnDeps(deps, appender, log), turn, hand_over, stopping: closed, ...calls })
  const workers = await createWorkers({
    connection,
    namespace: config.temporal.namespace,
    activities,
    workflows: options.workflows ?? BUNDLE,
  })
  const schedules = { read: async () => readSchedules(await current.latest()), now: () => appender.now() }
  const ensuring = keepLoops({ ...loops, timings, schedules, log, onStarted: (count) => metrics.mended('loop_started', count) })
  const served = config.metrics === undefined ? undefined : await serveMetrics({ ...config.metrics, text: metrics.text, log })
  const running = Promise.all(workers.map((worker) => worker.run()))
  const stop = () => {
    if (stopping.signal.aborted) return
    stopping.abort()
    // One that has ended by itself throws where it is told to.
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown()
  }
  const ended = running
    .then(() => undefined)
    .finally(async () => {
      stop()
      ensuring.stop()
      await work.settled()
      await dispatching.close()
      await served?.close()
      await tracing?.close()
      await closeClient()
      await connection.close()
      await deps.close()
    })
  return {
    ended,
    async stop() {
      stop()
      await ended
    },
  }
}

type Work = {
  readonly config: AutomationConfig
  readonly deps: Deps
  readonly port: DispatchPort
  readonly submit: HandOverDeps['submit']
  readonly loops: LoopsDeps
  readonly metrics: AutomationMetrics
  readonly log: (message: string) => void
  readonly closed: AbortSignal
}

/** The turn, and what follows from each of its publishes: attempts go to workers, and cancels after them. */
function createWork({ config, deps, port, submit, loops, metrics, log, closed }: Work) {
  const { worker_secrets, api_url } = config
  const { appender, tracing } = submit
  const reader = openReader(deps, log)
  const current = createCurrent({ reader, clock: deps.clock })
  const hand_over = createHandOver({
    ...deps,
    reader,
    current,
    port,
    submit,
    secrets: config.secrets,
    callback_url: api_url,
    log,
    onAnswers: metrics.answers,
    tracing,
  })
  const cancel_push = createCancelPush({
    post: (url, request, location_name) =>
      postSigned({ clock: deps.clock, worker_secrets }, url, request, { ...deps.scope, location_name }),
    log,
  })
  const schedule_pokes = createSchedulePokes({
    start: (definition) => startScheduleLoop(loops, definition),
    poke: (schedule_id) => pokeSchedule(loops, schedule_id),
    at_once: LOOP_SIGNALS_AT_ONCE,
    clock: clockUntil(deps.clock, closed),
    log,
  })
  const api_watch = watchApi({
    clock: clockUntil(deps.clock, closed),
    ask: askHealth(api_url),
    isNeeded: () => isAnyOut(turn.workspace()),
    log,
    stopping: closed,
  })
  const turn: Turn = createTurn({
    ...turnDeps(deps, appender, log),
    unheard: api_watch.unheard,
    reconcile: createReconcile({ secret: config.secrets[0] }),
    onPublish(workspace, changed) {
      hand_over.onPublish(workspace)
      cancel_push.onPublish(workspace)
      schedule_pokes.onPublish(workspace, changed)
    },
    watch: { onPublished: metrics.published, onLost: metrics.lost, onMended: metrics.mended, onEnded: metrics.ended },
    tracing,
  })
  const following = keepFollowing({ clock: clockUntil(deps.clock, closed), closed, turn, log })
  return {
    turn,
    hand_over,
    current,
    /** What is on its way has arrived, and nobody asks any more. */
    async settled() {
      await hand_over.settled()
      await cancel_push.settled()
      await schedule_pokes.settled()
      await api_watch.ended
      await following
    },
  }
}

type KeepLoops = Parameters<typeof ensureLoops>[0] & {
  readonly log: (message: string) => void
  readonly onStarted: (count: number) => void
}

function keepLoops({ log, onStarted, ...loops }: KeepLoops): ReturnType<typeof keepEnsured> {
  return keepEnsured({
    // A process that is asked to end does not wait for the next look.
    clock: { sleep: (duration_ms) => sleep(duration_ms, undefined, { ref: false }) },
    async ensure() {
      const started = await ensureLoops(loops)
      onStarted(started.length)
      return started
    },
    poke: () => pokeWorkspace(loops),
    log,
  })
}

const BUNDLE = { workflowBundle: { codePath: fileURLToPath(new URL('../workflow-bundle.cjs', import.meta.url)) } }

type WorkerParts = Pick<WorkerOptions, 'connection' | 'namespace'> & {
  readonly activities: Activities
  readonly workflows: NonNullable<AutomationOptions['workflows']>
}

/** A queue has a worker of its own, so that what waits never holds the place of what it waits for. */
function createWorkers({
  connection,
  namespace,
  activities: { turn, handOver, maintain, scheduleTurn },
  workflows,
}: WorkerParts): Promise<Worker[]> {
  const common = {
    ...(connection === undefined ? {} : { connection }),
    ...(namespace === undefined ? {} : { namespace }),
    shutdownGraceTime: SHUTDOWN_GRACE_MS,
    shutdownForceTime: SHUTDOWN_FORCE_MS,
  }
  return Promise.all([
    Worker.create({
      ...common,
      taskQueue: TASK_QUEUES.loops,
      maxCachedWorkflows: CACHED_WORKFLOWS_MAX,
      stickyQueueScheduleToStartTimeout: STICKY_WAIT_MS,
      ...workflows,
    }),
    // One turn at a time is all that a workspace has use for; the second slot is for one that was given up.
    Worker.create({ ...common, taskQueue: TASK_QUEUES.turn, activities: { turn }, maxConcurrentActivityTaskExecutions: 2 }),
    // They wait for turns, and hold nothing meanwhile.
    Worker.create({
      ...common,
      taskQueue: TASK_QUEUES.calls,
      activities: { scheduleTurn },
      maxConcurrentActivityTaskExecutions: SCHEDULE_CALLS_AT_ONCE,
    }),
    Worker.create({ ...common, taskQueue: TASK_QUEUES.work, activities: { handOver, maintain }, maxConcurrentActivityTaskExecutions: 10 }),
  ])
}
