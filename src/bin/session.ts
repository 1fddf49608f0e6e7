// A session of an automation: a connection to Temporal, the workers on it, and the turn and the hand-over that they call. It
// holds the hot state, and nothing that the next session could not load again.

import { setMaxListeners } from 'node:events'
import { beforeAbort } from '../activities/aborts.js'
import { askHealth, isAnyOut, watchApi } from '../activities/api-watch.js'
import { createCancelPush } from '../activities/cancel-push.js'
import type { DispatchPort } from '../activities/dispatch.js'
import { entityLoops, pokeEntity, pokeWorkspace } from '../activities/ensure-loops.js'
import { createAsk } from '../activities/entities/ask.js'
import { everyKind } from '../activities/entities/kinds.js'
import { createEntityPokes } from '../activities/entities/pokes.js'
import { createHandOver, type HandOverDeps } from '../activities/hand-over.js'
import { createActivities } from '../activities/index.js'
import { keepEnsured } from '../activities/keep-ensured.js'
import { createLoopLooks, type LoopLooks } from '../activities/loop-looks.js'
import { createPoker } from '../activities/poke.js'
import { signalWorkspace } from '../activities/signal-workspace.js'
import { postSigned } from '../activities/signed-post.js'
import { type LoopsDeps, startEntityLoop } from '../activities/start-loops.js'
import { createWorkspacePages } from '../activities/workspace-page.js'
import { isOperatingError } from '../core/errors.js'
import { LOOP_SIGNALS_AT_ONCE, SETTLE_MS_MAX, TEMPORAL_LOOK_MS_MAX, TURN_ENDS_MS_MAX } from '../core/loop-limits.js'
import { type TaskQueues, taskQueues } from '../core/names.js'
import { type Current, createCurrent } from '../readers/current.js'
import type { Reader } from '../readers/reader.js'
import type { AutomationMetrics } from '../telemetry/automation-metrics.js'
import type { Health } from '../telemetry/health.js'
import type { Tracing } from '../telemetry/tracing.js'
import { createReconcile } from '../turn/controllers.js'
import { keepFollowing } from '../turn/keep-following.js'
import { createTurn, type Turn } from '../turn/turn.js'
import type { PublishReport } from '../turn/watch.js'
import type { LoopTimings } from '../workflows/contract.js'
import { clockUntil } from './clock.js'
import { createClosers } from './closers.js'
import type { AutomationConfig } from './config.js'
import { type Deps, openAppender, openReader, turnDeps } from './deps.js'
import { type MovingQueues, serveMovingQueues } from './moving-queues.js'
import type { Session } from './supervisor.js'
import { openClient, type TemporalClient } from './temporal.js'
import { lookAtNamespace } from './temporal-namespace.js'
import { connectWorker, installRuntime } from './temporal-worker.js'
import {
  namespaceTrouble,
  needingStore,
  needingTemporal,
  SessionError,
  type SessionTrouble,
  storeTrouble,
  temporalTrouble,
  troubleOf,
} from './troubles.js'
import { workerIdentity } from './worker-identity.js'
import { startWorkers, type Workflows } from './workers.js'

export type SessionParts = {
  readonly config: AutomationConfig
  readonly deps: Deps
  readonly port: DispatchPort
  readonly metrics: AutomationMetrics
  readonly health: Health
  readonly tracing: Tracing | undefined
  readonly timings: LoopTimings
  readonly workflows: Workflows | undefined
  readonly log: (message: string) => void
}

/** Rejects with what is missing, and leaves nothing behind then. */
export async function openSession(parts: SessionParts): Promise<Session> {
  const { config, deps, metrics, log } = parts
  const closing = new AbortController()
  const overdue = new AbortController()
  // Every call that is under way listens, a thousand at once, and takes its listener away when it ends.
  setMaxListeners(0, closing.signal, overdue.signal)
  const closers = createClosers()
  try {
    const appender = await needingStore(() => openAppender({ ...deps, tracing: parts.tracing }, log, metrics.append))
    const temporal = openClient(config.temporal)
    closers.add(temporal.close)
    const { has_names } = await assertComplete(temporal, config)
    installRuntime(log)
    const connection = await needingTemporal(config.temporal, () => connectWorker(config.temporal))
    closers.add(() => connection.close())
    const loops = { client: temporal.client, scope: deps.scope, has_names }
    const work = createWork({ ...parts, appender, loops, closed: closing.signal, overdue: overdue.signal })
    closers.add(async () => {
      closing.abort()
      await endsWithin(SETTLE_MS_MAX, work.settled(), deps)
    })
    const { namespace } = config.temporal
    const identity = workerIdentity(config.workspace.store)
    // Where the store does not answer now, the workers keep as many loops as is usual.
    const loop_count = await work.countLoops().catch(() => 0)
    const startOn = (queues: TaskQueues) =>
      startWorkers({ connection, namespace, identity, queues, loop_count, activities: work.activities, workflows: parts.workflows })
    const workers = await needingTemporal(config.temporal, () => startOn(taskQueues(deps.scope)))
    const moving = serveMovingQueues({ start: startOn, log })
    const ensuring = keepLoops({ ...parts, loops, moving, looks: work.looks, closed: closing.signal })
    closers.add(async () => {
      // What goes on in a worker for long leaves itself to the next session.
      closing.abort()
      const ended = allDone([workers.stop(), ensuring.then(moving.stop)])
      if (!(await endsWithin(TURN_ENDS_MS_MAX, ended, deps))) overdue.abort()
      await ended
    })
    return {
      ended: Promise.race([workers.failed, moving.failed]).then((cause) => whyLost(temporal, config, cause)),
      close: closers.closeAll,
    }
  } catch (error) {
    closing.abort()
    await closers.closeAll().catch((fault: unknown) => log(`What was begun did not end in order: ${String(fault)}`))
    throw error
  }
}

/** Whether the work ended in time, well or not. It goes on where it did not. */
async function endsWithin(duration_ms: number, work: Promise<unknown>, { clock }: Pick<Deps, 'clock'>): Promise<boolean> {
  let isDone = false
  const waiting = new AbortController()
  const end = () => {
    isDone = true
    waiting.abort()
  }
  work.then(end, end)
  await clock.sleep(duration_ms, waiting.signal)
  return isDone
}

/** Rejects with the first fault, when all have ended. */
async function allDone(works: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(works)
  await Promise.all(works)
}

/** Temporal says of each thing whether it is missing. Of workers it would only say after a minute that they cannot go on. */
async function assertComplete({ connection }: TemporalClient, { temporal }: AutomationConfig): Promise<{ readonly has_names: boolean }> {
  const state = await needingTemporal(temporal, () =>
    connection.withDeadline(Date.now() + TEMPORAL_LOOK_MS_MAX, () => lookAtNamespace(connection, temporal.namespace)),
  )
  const trouble = namespaceTrouble(state, temporal)
  if (trouble !== undefined) throw new SessionError(trouble)
  return { has_names: state.optional_missing.length === 0 }
}

/** A worker that fails gives no code, and its words are the server's: the server is asked what is missing. */
const whyLost = (temporal: TemporalClient, config: AutomationConfig, cause: unknown): Promise<SessionTrouble> =>
  assertComplete(temporal, config).then(() => temporalTrouble(cause, config.temporal), troubleOf)

type WorkParts = SessionParts & {
  readonly appender: HandOverDeps['submit']['appender']
  readonly loops: LoopsDeps
  readonly closed: AbortSignal
  readonly overdue: AbortSignal
}

/** The turn, and what follows from each of its publishes: attempts go to workers, and cancels after them. */
function createWork({ config, deps, port, appender, tracing, loops, timings, metrics, health, log, closed, overdue }: WorkParts) {
  const { worker_secrets, secrets, api_url } = config
  const clock = clockUntil(deps.clock, closed)
  const reader = openReader(deps, log)
  const current = createCurrent({ reader, clock: deps.clock })
  const poke = createPoker({ signal: () => signalWorkspace(loops), clock, closed, log, onPoke: metrics.poke })
  const submit = { scope: deps.scope, appender, random: deps.random, poke, tracing }
  const hand_over = createHandOver({
    ...deps,
    reader,
    current,
    port,
    submit,
    secrets,
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
  const entity_pokes = openEntityPokes({ loops, clock, log, onGivenUp: () => looks.noteLostPoke() })
  const pages = createWorkspacePages()
  const onPublished = (report: PublishReport) => {
    metrics.published(report)
    pages.onPublished(report)
  }
  const api_watch = watchApi({ clock, ask: askHealth(api_url), isNeeded: () => isAnyOut(turn.workspace()), log, stopping: closed })
  const turn: Turn = createTurn({
    ...turnDeps(deps, appender, log),
    unheard: api_watch.unheard,
    reconcile: createReconcile({ secret: secrets[0] }),
    onPublish(workspace, changed) {
      hand_over.onPublish(workspace)
      cancel_push.onPublish(workspace)
      for (const pokes of entity_pokes) pokes.onPublish(workspace, changed)
    },
    watch: { onPublished, onLost: metrics.lost, onMended: metrics.mended, onEnded: metrics.ended },
    tracing,
  })
  const onFollowed = (error: unknown) => health.report('rows', error === undefined ? undefined : storeTrouble(error))
  const looks = openLooks({ loops, clock: deps.clock, appender, current, reader, turn })
  const following = keepFollowing({ clock, closed, turn, log, onFollowed, onMoved: looks.noteOtherPublisher })
  const calls = { current, ask: createAsk({ current, poke, stopping: closed }), submit, secrets }
  return {
    activities: createActivities({
      ...turnDeps(deps, appender, log),
      turn,
      hand_over,
      pages,
      timings,
      stopping: closed,
      overdue,
      has_names: loops.has_names === true,
      ...calls,
    }),
    looks,
    async countLoops() {
      const view = await current.latest()
      const entities = await Promise.all(everyKind((kind) => kind.readAll(view)))
      return entities.flat().length
    },
    /** What is on its way has arrived, and nobody asks any more. */
    async settled() {
      await hand_over.settled()
      await cancel_push.settled()
      await Promise.all(entity_pokes.map((pokes) => pokes.settled()))
      await api_watch.ended
      await following
      health.report('rows', undefined)
    },
  }
}

type PokeParts = Pick<WorkParts, 'loops' | 'log'> & { readonly clock: Deps['clock']; readonly onGivenUp: () => void }

const openEntityPokes = ({ loops, ...rest }: PokeParts) =>
  everyKind((kind) =>
    createEntityPokes({
      kind,
      start: (entity) => startEntityLoop(loops, kind.kind, entity),
      poke: (entity_id) => pokeEntity(loops, kind.kind, entity_id),
      at_once: LOOP_SIGNALS_AT_ONCE,
      ...rest,
    }),
  )

type LookParts = Pick<WorkParts, 'loops' | 'appender'> & {
  readonly clock: Deps['clock']
  readonly current: Current
  readonly reader: Reader
  readonly turn: Turn
}

function openLooks({ loops, clock, appender, current, reader, turn }: LookParts): LoopLooks {
  // What this process stands on costs no look at the store.
  const standing = async () => {
    const { snapshot } = turn.workspace()
    return snapshot === undefined ? current.latest() : reader.viewOf(snapshot)
  }
  return createLoopLooks({
    ...loops,
    clock,
    now: () => appender.now(),
    entities: everyKind((kind) => entityLoops(kind, current.latest, standing)),
  })
}

type KeepParts = SessionParts & {
  readonly loops: LoopsDeps
  readonly moving: MovingQueues
  readonly looks: LoopLooks
  readonly closed: AbortSignal
}

async function keepLoops({ config, deps, loops, moving, looks, metrics, health, log, closed }: KeepParts): Promise<void> {
  await keepEnsured({
    clock: clockUntil(deps.clock, closed),
    closed,
    async ensure() {
      // It reads the store, which may hang. Workers that `follow` starts have to be there when it ends: it is waited for.
      const looked = await beforeAbort(closed, looks.look())
      const { started, elsewhere } = looked ?? { started: [], elsewhere: [] }
      metrics.mended('loop_started', started.length)
      await moving.follow(elsewhere)
      return { started, is_moving: elsewhere.length > 0 }
    },
    poke: () => pokeWorkspace(loops),
    log,
    onLooked: (error) => health.report('loops', error === undefined ? undefined : troubleOfLook(error, config)),
  })
  health.report('loops', undefined)
}

/** A look reads the schedules from the store, and lists and starts loops in Temporal. */
const troubleOfLook = (error: unknown, { temporal }: AutomationConfig) =>
  isOperatingError(error) ? storeTrouble(error) : temporalTrouble(error, temporal)
