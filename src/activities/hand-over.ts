// Hands published attempts to workers. New ones go out with the publish that they are in, and nobody waits for it; the
// sweep sends again whatever has not started. Both may send twice, by any process: an attempt starts once all the same.
// Nothing that is not published is ever handed over.

import type { Dispatch } from '../api/contract/worker.js'
import { handoverRefusedDraft, idsOf } from '../commands/attempt-draft.js'
import { type Submit, submitDrafts } from '../commands/submit.js'
import { isOperatingError, messageOf } from '../core/errors.js'
import { dispatchEnqueuedKey } from '../core/keys.js'
import { DISPATCHES_PER_REQUEST_MAX, PREFETCH_STALE_MS } from '../core/limits.js'
import { type Clock, SECOND_MS } from '../core/time.js'
import type { Draft } from '../events/draft.js'
import type { CodeLocationRow } from '../projections/asset-table.js'
import type { DispatchOutboxRow } from '../projections/run-table.js'
import type { Current } from '../readers/current.js'
import { isWithQueue, readUnstarted } from '../readers/outbox.js'
import type { Reader, View } from '../readers/reader.js'
import type { Tracing } from '../telemetry/tracing.js'
import type { Workspace } from '../turn/workspace.js'
import { createBlocked } from './blocked.js'
import type { DispatchPort, SendAnswer } from './dispatch.js'
import { type EnvelopeDeps, envelopesOf, type OutboxEntry } from './envelope.js'
import { type AnswerSeen, createSeenAnswers } from './seen-answers.js'
import { traceDispatches } from './trace.js'
import { createWithdrawal, hasWaitedLong, partedByCancel } from './withdrawal.js'

export type HandOverDeps = EnvelopeDeps & {
  readonly reader: Reader
  readonly current: Current
  readonly clock: Clock
  readonly port: DispatchPort
  readonly submit: Submit
  readonly log: (message: string) => void
  /** Told of each request's answers: for whoever counts them. */
  readonly onAnswers?: (send: 'first' | 'again', answers: readonly AnswerSeen[]) => void
  readonly tracing?: Tracing | undefined
}

export type HandOver = {
  /** Takes what this revision has and nobody here has sent, within the call, and sends it on its own time. */
  readonly onPublish: (workspace: Workspace) => void
  /** Sends again what is out and has not started. Answers how much of it there is. */
  readonly sweep: () => Promise<number>
  /** What is on its way has arrived. */
  readonly settled: () => Promise<void>
}

/** Requests to one location at a time: a slow one is not flooded, and holds up no other. */
const REQUESTS_AT_ONCE = 4
/** Another process may publish meanwhile: what is older than this is read anew. */
const PUBLISHED_AGE_MS_MAX = 5 * SECOND_MS
/** An attempt that has not started this long after it was dispatched is sent again. */
const RESEND_AFTER_MS = 3 * SECOND_MS

/** Of those that wait for a slot, once and later: they are with a worker as a rule, and are taken back soon. Until then another worker
 *  behind the same URL may have a slot. */
function isToSendAgain({ outbox }: OutboxEntry, now: number): boolean {
  const { prefetched, requested_at, status } = outbox
  if (prefetched === true) return status === 'PENDING' && requested_at <= now - PREFETCH_STALE_MS
  return requested_at <= now - RESEND_AFTER_MS && !isWithQueue(outbox)
}

type Sent = { readonly entry: OutboxEntry; readonly answer: SendAnswer }

export function createHandOver(deps: HandOverDeps): HandOver {
  const { reader, port, clock, log } = deps
  const withdrawal = createWithdrawal(deps)
  const blocked = createBlocked(deps)
  const seenAnswers = createSeenAnswers()
  /** Attempts that this process has sent, for as long as they are out. */
  const sent = new Set<string>()
  const lanes = new Map<string, Lane>()
  const under_way = new Set<Promise<unknown>>()
  /** What this process has published itself is at hand, and need not be read and decoded again. */
  let published: { readonly view: View; readonly at: number } | undefined

  const newestView = async (): Promise<View | undefined> =>
    published !== undefined && clock.elapsed() - published.at <= PUBLISHED_AGE_MS_MAX ? published.view : deps.current.latest()

  async function send({ view, location, entries }: Request, time: 'first' | 'again'): Promise<readonly Sent[]> {
    const envelopes = await envelopesOf(deps, view, entries)
    const ready = envelopes.flatMap((each) => ('dispatch' in each ? [each] : []))
    const lost = envelopes.flatMap((each): Sent[] =>
      'problem' in each
        ? [{ entry: each.entry, answer: { answer: 'REFUSED', error: { code: 'BAD_PARTITION', message: each.problem, retryable: false } } }]
        : [],
    )
    const dispatches = ready.map((each): Dispatch => each.dispatch)
    const names = ready.map(({ entry }) => entry.outbox.queue_task_name)
    const traced = await traceDispatches(deps.tracing, view, dispatches, time)
    const answers = ready.length === 0 ? [] : await port.send(location.worker_url, traced.dispatches, names, location.location_version)
    traced.answered(answers)
    blocked.note(location, answers)
    return [...lost, ...ready.map(({ entry }, index) => ({ entry, answer: answers[index] as SendAnswer }))]
  }

  /** What cannot be handed over is lost, and the turn decides what follows. What was prefetched and is not kept by its worker
   *  waits for its turn again. The rest is the sweep's. */
  async function note({ sequence }: View, answers: readonly Sent[]): Promise<void> {
    const refused = answers.flatMap(({ entry, answer }) => (answer.answer === 'REFUSED' ? [refusedDraft(entry, answer)] : []))
    if (refused.length > 0) await submitDrafts(deps.submit, refused, 'servo/handover')
    const unkept = answers.filter(({ entry, answer }) => answer.answer === 'BUSY' && entry.outbox.prefetched === true)
    await withdrawal.giveBack(
      sequence,
      unkept.map(({ entry }) => entry),
    )
  }

  async function sendAgain(view: View, location_name: string, entries: readonly OutboxEntry[]): Promise<void> {
    const location = await view.row('code_locations', [location_name])
    if (location === undefined) return
    const requests = inRequests(view, location, entries)
    const answers = (await Promise.all(requests.map((request) => send(request, 'again')))).flat()
    deps.onAnswers?.('again', seenAnswers(answers))
    await note(view, answers)
    await noteAccepted(deps, answers)
    const problem = answers.flatMap(({ answer }) => (answer.answer === 'UNREACHABLE' ? [answer.problem] : []))[0]
    if (problem !== undefined) log(`${location_name}: ${problem}`)
  }

  function laneOf(location_name: string): Lane {
    const known = lanes.get(location_name)
    if (known !== undefined) return known
    const lane = createLane(
      async (request) => {
        const answers = await send(request, 'first')
        deps.onAnswers?.('first', seenAnswers(answers))
        await note(request.view, answers)
      },
      (error) => log(`Attempts could not be handed to ${location_name} now, and will be sent again: ${messageOf(error)}`),
    )
    lanes.set(location_name, lane)
    return lane
  }

  function track(work: Promise<unknown>): void {
    under_way.add(work)
    void work.finally(() => under_way.delete(work))
  }

  return {
    onPublish({ snapshot, rows }) {
      if (snapshot === undefined) return
      const view = reader.viewOf(snapshot)
      published = { view, at: clock.elapsed() }
      const out = rows.hotRows('dispatch_outbox').filter(({ status }) => status === 'PENDING' || status === 'ACKED')
      forgetOthers(sent, out)
      blocked.noteOut(out)
      const { wanted, cancelled } = partedByCancel(
        out.flatMap((outbox) => entryOf(rows.get('tasks', outbox.run_id, outbox.task_key), outbox)),
      )
      track(withdrawal.onPublish(view.sequence, cancelled))
      for (const [location_name, entries] of byLocation(
        wanted.filter(({ outbox }) => !sent.has(outbox.attempt_id) && !isWithQueue(outbox)),
      )) {
        const location = rows.get('code_locations', location_name)
        if (location === undefined) continue
        for (const { outbox } of entries) sent.add(outbox.attempt_id)
        track(laneOf(location_name).push(inRequests(view, location, entries)))
      }
    },

    async sweep() {
      const view = await newestView()
      if (view === undefined) return 0
      const unstarted = await readUnstarted(view)
      blocked.noteOut(unstarted.map(({ outbox }) => outbox))
      const now = deps.submit.appender.now()
      const { wanted, cancelled } = partedByCancel(unstarted)
      const overdue = wanted.filter((entry) => hasWaitedLong(entry, now))
      const due = wanted.filter((entry) => isToSendAgain(entry, now) && !hasWaitedLong(entry, now))
      // A location whose worker is slow, or whose attempts cannot be put into words, holds up no other.
      const sent = await Promise.allSettled([
        withdrawal.sweep(view.sequence, cancelled),
        withdrawal.giveBack(view.sequence, overdue),
        ...[...byLocation(due)].map(([name, entries]) => sendAgain(view, name, entries)),
      ])
      const failed = sent.find(({ status }) => status === 'rejected')
      if (failed?.status === 'rejected') throw failed.reason
      return unstarted.length
    },

    async settled() {
      while (under_way.size > 0) await Promise.allSettled([...under_way])
      await clock.sleep(0)
    },
  }
}

const entryOf = (task: OutboxEntry['task'] | undefined, outbox: DispatchOutboxRow): OutboxEntry[] =>
  task === undefined ? [] : [{ outbox, task }]

function forgetOthers(sent: Set<string>, out: readonly DispatchOutboxRow[]): void {
  if (sent.size <= out.length) return
  const ids = new Set(out.map(({ attempt_id }) => attempt_id))
  for (const attempt_id of sent) if (!ids.has(attempt_id)) sent.delete(attempt_id)
}

/** In the order in which they became due: the outbox has no other. */
function byLocation(entries: readonly OutboxEntry[]): ReadonlyMap<string, readonly OutboxEntry[]> {
  const grouped = new Map<string, OutboxEntry[]>()
  for (const entry of entries) {
    const group = grouped.get(entry.outbox.location_name) ?? []
    grouped.set(entry.outbox.location_name, group)
    group.push(entry)
  }
  return grouped
}

type Request = { readonly view: View; readonly location: CodeLocationRow; readonly entries: readonly OutboxEntry[] }

function inRequests(view: View, location: CodeLocationRow, entries: readonly OutboxEntry[]): Request[] {
  const requests: Request[] = []
  for (let start = 0; start < entries.length; start += DISPATCHES_PER_REQUEST_MAX) {
    requests.push({ view, location, entries: entries.slice(start, start + DISPATCHES_PER_REQUEST_MAX) })
  }
  return requests
}

type Lane = { readonly push: (requests: readonly Request[]) => Promise<unknown> }

function createLane(send: (request: Request) => Promise<void>, onFault: (error: unknown) => void): Lane {
  const queue: { readonly request: Request; readonly done: () => void }[] = []
  let sending = 0
  async function drain(): Promise<void> {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      // A fault of one request holds up no other; what was in it has not started, and the sweep finds it.
      await send(next.request).catch(onFault)
      next.done()
    }
    sending -= 1
  }
  return {
    push(requests) {
      const all = requests.map((request) => new Promise<void>((done) => queue.push({ request, done })))
      while (sending < REQUESTS_AT_ONCE && queue.length > 0) {
        sending += 1
        void drain()
      }
      return Promise.all(all)
    },
  }
}

const refusedDraft = ({ outbox }: OutboxEntry, { error }: Extract<SendAnswer, { answer: 'REFUSED' }>): Draft =>
  handoverRefusedDraft(outbox, 'DISPATCHED', { error })

/** Well within a batch. */
const DRAFTS_AT_ONCE = 500

/** Said of attempts that a worker has and has not started: those that start at once need no word of it (ADR 0038). */
async function noteAccepted({ port, submit }: HandOverDeps, answers: readonly Sent[]): Promise<void> {
  const accepted = answers.filter(({ entry, answer }) => answer.answer === 'ACCEPTED' && entry.outbox.status === 'PENDING')
  if (accepted.length === 0) return
  const drafts = accepted.map(({ entry }): Draft => {
    const ids = idsOf(entry.outbox)
    return {
      event_type: 'DispatchEnqueued',
      idempotency_key: dispatchEnqueuedKey(ids),
      correlation_id: ids.run_id,
      payload: { ...ids, port: port.port },
    }
  })
  try {
    for (let start = 0; start < drafts.length; start += DRAFTS_AT_ONCE) {
      await submitDrafts(submit, drafts.slice(start, start + DRAFTS_AT_ONCE), 'servo/handover', 'soon')
    }
  } catch (error) {
    // It only informs: the attempts are with their worker, whatever the ledger knows of it.
    if (!isOperatingError(error, 'unavailable')) throw error
  }
}
