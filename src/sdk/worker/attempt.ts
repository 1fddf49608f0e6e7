// One attempt, from the question whether it may start to the report of how it ended. Nothing that its code does ends
// the worker, and its code runs only after the API has said that this execution is the one.

import { type CompletedRequest, type Dispatch, type StartedResponse, startedResponse } from '../../api/contract/worker.js'
import { messageOf } from '../../core/errors.js'
import { instantMs, instantText } from '../../core/time.js'
import { newUlid, type RandomBytes } from '../../core/ulid.js'
import { inSpan, type Span, type Tracing, within } from '../../telemetry/tracing.js'
import { type RunContext, runPartitions } from '../context.js'
import type { Asset } from '../dependency.js'
import { createPost, describe, isTaken, type Post, repeat } from './call.js'
import type { CallbackLine } from './callback-line.js'
import { type Heartbeats, startHeartbeats } from './heartbeat.js'
import { createLogSender, type LogSender } from './log-sender.js'
import type { HeartbeatOutcome } from './metrics.js'
import { type CodeEnd, type Outcome, outcomeOf, refusedReport } from './outcome.js'
import { pause } from './pause.js'
import { type CallAnswer, isWorthRepeating } from './post-json.js'
import { createStop, type Stop } from './stop.js'

export type WorkerClock = { readonly now: () => number; readonly elapsed: () => number }

export type AttemptDeps = {
  readonly worker_id: string
  readonly clock: WorkerClock
  readonly random: RandomBytes
  readonly log: (message: string) => void
  readonly call_timeout_ms: number
  readonly completed_within_ms: number
  /** Where callbacks go together, for those that say so. */
  readonly lineTo: (callbacks_url: string | undefined) => CallbackLine | undefined
  readonly onHeartbeat: (outcome: HeartbeatOutcome) => void
  readonly tracing?: Tracing | undefined
  /** Aborted when the worker is closed: nothing is sent any more. */
  readonly closed: AbortSignal
  readonly identity?: (() => Promise<string>) | undefined
}

export type Attempt = {
  readonly stop: Stop['stop']
  /** Reports without waiting for the code. */
  readonly abandon: () => void
  /** The code is over, or never ran. */
  readonly codeEnded: Promise<void>
  /** Whether the API has said that it may start, or may not; false: nobody knows, and nobody asks any more. */
  readonly asked: Promise<boolean>
  /** Whether the API has its report; false: nobody has said how it ended, or it was not this worker's to say. */
  readonly finished: Promise<boolean>
}

type Work = AttemptDeps & {
  readonly dispatch: Dispatch
  readonly asset: Asset
  readonly execution_id: string
  /** By the clock that only goes on. */
  readonly began: number
  readonly post: Post
  readonly span: Span | undefined
  readonly stopping: Stop
  readonly abandoned: AbortSignal
  readonly release: () => void
  readonly noteAsked: (isAnswered: boolean) => void
}

export const RETRY_FIRST_MS = 100
export const RETRY_LONGEST_MS = 5_000
/** A chunk that is not answered for this long is given up, so that the next ones have a chance. */
const LOG_CHUNK_WITHIN_MS = 60_000

const CONFLICT: CallAnswer = { kind: 'answered', status: 409, body: undefined, retry_after_ms: 0 }

export function startAttempt(deps: AttemptDeps, dispatch: Dispatch, asset: Asset): Attempt {
  const say = (message: string) => deps.log(`${dispatch.run_id} ${dispatch.task_key}, attempt ${dispatch.attempt}: ${message}`)
  const abandoned = new AbortController()
  const stopping = createStop()
  let release: () => void = () => undefined
  const codeEnded = new Promise<void>((resolve) => {
    release = resolve
  })
  let noteAsked: Work['noteAsked'] = () => undefined
  const asked = new Promise<boolean>((resolve) => {
    noteAsked = resolve
  })
  const span = startSpan(deps.tracing, dispatch)
  const traceparent = span?.traceparent ?? dispatch.traceparent
  const post = createPost({
    ...dispatch,
    ...deps,
    ...(traceparent === undefined ? {} : { traceparent }),
    line: deps.lineTo(dispatch.callbacks_url),
  })
  const work: Work = {
    ...deps,
    log: say,
    dispatch,
    asset,
    execution_id: newUlid(deps.clock.now(), deps.random),
    began: deps.clock.elapsed(),
    span,
    // After a conflict nothing is said any more, whoever wants to.
    post: async (path, body) => (stopping.kind() === 'conflict' ? CONFLICT : post(path, body)),
    stopping,
    abandoned: abandoned.signal,
    release: () => release(),
    noteAsked,
  }
  const finished = (span === undefined ? execute(work) : within(span, () => execute(work)))
    .catch((error: unknown) => {
      say(`it ended by a fault of the worker: ${error instanceof Error ? error.stack : messageOf(error)}`)
      return false
    })
    .finally(() => {
      release()
      noteAsked(false)
    })
  return { stop: stopping.stop, abandon: () => abandoned.abort(), codeEnded, asked, finished }
}

async function execute(work: Work): Promise<boolean> {
  const started = await askToStart(work)
  if (started === undefined) return false
  const { stopping, dispatch } = work
  if (started.cancel === true) stopping.stop('cancel')
  const logs = openLogs(work)
  const beats = openHeartbeats(work, started)
  const codeOver = new AbortController()
  if (dispatch.timeout_ms !== null) {
    void pause(dispatch.timeout_ms, codeOver.signal).then(() => !codeOver.signal.aborted && stopping.stop('timeout'))
  }
  const end = await runCode(work, logs, beats)
  const stopped = stopping.kind()
  const slot_ms = Math.round(work.clock.elapsed() - work.began)
  codeOver.abort()
  if (end.kind !== 'abandoned') work.release()
  // Beats go on meanwhile: the last lines may take longer than the attempt may be silent.
  await logs.close()
  await beats.stop()
  if (stopping.kind() === 'conflict') {
    work.log('it belongs to another execution, or is over. Nothing is reported.')
    return false
  }
  return report(
    work,
    outcomeOf(end, stopped, () => newUlid(work.clock.now(), work.random)),
    slot_ms,
  )
}

const said = ({ execution_id, dispatch }: Work) => ({ execution_id, sequence: dispatch.sequence })

const codeVersion = ({ asset }: Work) =>
  asset.definition.code_version === undefined ? {} : { code_version: asset.definition.code_version }

/** The same execution_id each time: an answer that was lost is given again. */
async function askToStart(work: Work): Promise<StartedResponse | undefined> {
  const { clock, dispatch, worker_id } = work
  const deadline = instantMs(dispatch.start_deadline_at)
  const body = { ...said(work), worker_id, ...codeVersion(work), worker_started_at: instantText(clock.now()) }
  const call = async (): Promise<CallAnswer> => {
    const answer = await work.post('started', body)
    // What says yes and is no answer of this protocol comes from something in between: it is asked again.
    return isTaken(answer) && readStarted(answer) === undefined
      ? { kind: 'unanswered', problem: 'its answer was none of this protocol' }
      : answer
  }
  const answer = await repeat(call, { ...patience(work), signal: work.stopping.signal, isDue: () => clock.now() < deadline })
  work.noteAsked(!isWorthRepeating(answer))
  const started = readStarted(answer)
  if (started === undefined) work.log(`it is dropped, because started ${describe(answer)}`)
  return started
}

const readStarted = (answer: CallAnswer): StartedResponse | undefined =>
  isTaken(answer) && answer.kind === 'answered' ? startedResponse.safeParse(answer.body).data : undefined

const patience = ({ random }: Work) => ({ random, first_ms: RETRY_FIRST_MS, longest_ms: RETRY_LONGEST_MS })

function openLogs(work: Work): LogSender {
  const { clock, log, stopping, post, closed } = work
  return createLogSender({
    now: clock.now,
    log,
    closed,
    onConflict: () => stopping.stop('conflict'),
    send(chunk, signal) {
      const began = clock.elapsed()
      const isDue = () => clock.elapsed() - began < LOG_CHUNK_WITHIN_MS
      return repeat(() => post('logs', { ...said(work), ...chunk }), { ...patience(work), signal, isDue })
    },
  })
}

function openHeartbeats(work: Work, { heartbeat_interval_ms }: StartedResponse): Heartbeats {
  const { clock, dispatch, stopping } = work
  return startHeartbeats({
    interval_ms: Math.min(heartbeat_interval_ms, dispatch.heartbeat_timeout_ms / 3),
    async send(beat) {
      const answer = await work.post('heartbeat', { ...said(work), ...beat })
      work.onHeartbeat(isTaken(answer) ? 'taken' : answer.kind === 'answered' ? 'refused' : 'unanswered')
      return answer
    },
    onCancel: () => stopping.stop('cancel'),
    onConflict: () => stopping.stop('conflict'),
    log: work.log,
    elapsed: clock.elapsed,
  })
}

/** Never rejects: what the code throws is a value here, also when it throws after nobody waits for it any more. */
function runCode(work: Work, { logger }: LogSender, { setProgress }: Heartbeats): Promise<CodeEnd> {
  const { dispatch, asset, stopping, abandoned } = work
  // Told to stop while it asked whether it may start: its code never begins.
  if (abandoned.aborted || stopping.signal.aborted) return Promise.resolve({ kind: 'abandoned' })
  const dependencies = asset.definition.deps.map(({ asset_key }) => [asset_key, []] as const)
  const context: RunContext = {
    run_id: dispatch.run_id,
    asset_key: dispatch.asset_key,
    attempt: dispatch.attempt,
    attempt_id: dispatch.attempt_id,
    partitions: runPartitions(asset.definition.partitions, dispatch.partition_keys ?? []),
    upstream: { ...Object.fromEntries(dependencies), ...dispatch.upstream },
    logger,
    signal: stopping.signal,
    heartbeat: setProgress,
  }
  return new Promise((resolve) => {
    abandoned.addEventListener('abort', () => resolve({ kind: 'abandoned' }))
    runTraced(work, () => asset.run(context)).then(
      (value) => resolve({ kind: 'returned', value }),
      (error: unknown) => resolve({ kind: 'threw', error }),
    )
  })
}

function startSpan(tracing: Tracing | undefined, { run_id, task_key, attempt, traceparent }: Dispatch): Span | undefined {
  const attributes = { 'servo.run_id': run_id, 'servo.task_key': task_key, 'servo.attempt': attempt }
  return tracing?.start('attempt', { kind: 'consumer', parent: traceparent, attributes })
}

/** Spans that the code makes by the API of OpenTelemetry are below the one that it runs in. */
const runTraced = ({ tracing, asset }: Work, run: () => unknown): Promise<unknown> =>
  inSpan(tracing, 'code', { 'servo.asset_key': asset.key }, () => new Promise((resolve) => resolve(run())))

async function report(work: Work, outcome: Outcome, slot_ms: number): Promise<boolean> {
  work.span?.add({ 'servo.outcome': outcome.outcome })
  const answer = await send(work, outcome, slot_ms)
  if (isTaken(answer)) return true
  work.log(`completed (${outcome.outcome}) ${describe(answer)}`)
  const isRefused = answer.kind === 'answered' && [400, 413, 422].includes(answer.status)
  if (!isRefused) return false
  const second = await send(work, refusedReport(describe(answer)), slot_ms)
  if (!isTaken(second)) work.log(`completed (FAILED) ${describe(second)}`)
  return isTaken(second)
}

function send(work: Work, outcome: Outcome, slot_ms: number): Promise<CallAnswer> {
  const { clock, closed, completed_within_ms } = work
  const finished = { worker_finished_at: instantText(clock.now()), slot_ms }
  const body: CompletedRequest = { ...said(work), ...outcome, ...codeVersion(work), ...finished }
  const began = clock.elapsed()
  const isDue = () => clock.elapsed() - began < completed_within_ms
  return repeat(() => work.post('completed', body), { ...patience(work), signal: closed, isDue })
}
