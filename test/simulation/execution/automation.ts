// An automation process: real turns with the real controllers, the real hand-over of what they publish, and its sweep. It
// begins a turn when it is poked, when something is due by the last turn's word, and now and then by itself.

import { isAnyOut, watchApi } from '../../../src/activities/api-watch.js'
import { type CancelPush, createCancelPush } from '../../../src/activities/cancel-push.js'
import type { DispatchPort } from '../../../src/activities/dispatch.js'
import { createHandOver, type HandOver } from '../../../src/activities/hand-over.js'
import { openAppender } from '../../../src/bin/appender.js'
import { isOperatingError } from '../../../src/core/errors.js'
import { SECOND_MS } from '../../../src/core/time.js'
import type { Appender } from '../../../src/ledger/append.js'
import { createCurrent } from '../../../src/readers/current.js'
import { createReader } from '../../../src/readers/reader.js'
import { createReconcile } from '../../../src/turn/controllers.js'
import { createDecider, type Decider, watched } from '../../fixtures/roles.js'
import type { Process } from '../../fixtures/world.js'
import { type Actor, noteBug } from '../actor.js'
import { askApi, poke, request, SECRETS, type Site, UNANSWERED } from './site.js'

export const reconcile = createReconcile({ secret: SECRETS[0] })

/** The loop's backstop while work is under way; the real one is longer, and a poke that was lost costs that much. */
const BACKSTOP_MS = 20 * SECOND_MS
const WAIT_MS_MIN = SECOND_MS
const SWEEP_EVERY_MS = 2 * SECOND_MS

export type Automation = { readonly decider: Decider; readonly hand_over: HandOver; readonly cancel_push: CancelPush }

/** `port`: what this process hands attempts over with. `appender`: one that knows the store's time, as a real process opens it before
 *  anything else; without it the process's own clock stamps what is said before its first append. */
export function openAutomation(site: Site, process: Process, port: DispatchPort, appender?: Appender): Automation {
  const { world } = site
  const reader = createReader({ store: process.store, files: process.files })
  const cancel_push = createCancelPush({ post: (_url, { attempt_ids }) => tellToStop(site, process, attempt_ids), log: () => undefined })
  const api_watch = watchApi({
    clock: process.clock,
    ask: askerOf(site, process),
    isNeeded: () => isAnyOut(decider.workspace()),
    log: () => undefined,
    stopping: new AbortController().signal,
  })
  const decider = createDecider(world, process, {
    reconcile,
    unheard: api_watch.unheard,
    ...(appender === undefined ? {} : { appender }),
    onPublish(workspace) {
      hand_over.onPublish(workspace)
      cancel_push.onPublish(workspace)
    },
  })
  const { clock, random, store } = process
  const hand_over: HandOver = createHandOver({
    store,
    clock,
    scope: world.scope,
    reader,
    current: createCurrent({ reader, clock }),
    port,
    submit: { scope: world.scope, appender: decider.appender, random: random.bytes, poke: () => poke(site) },
    secrets: SECRETS,
    callback_url: 'http://127.0.0.1:1',
    log: () => undefined,
  })
  return { decider, hand_over, cancel_push }
}

/** All workers are behind one URL: one of them is told, and it may be another that has the attempt. */
async function tellToStop(site: Site, process: Process, attempt_ids: readonly string[]): Promise<{ status: number; is_taken: boolean }> {
  const { overheard, witness, workers, world } = site
  for (const attempt_id of attempt_ids) {
    const run_id = overheard.find((dispatch) => dispatch.attempt_id === attempt_id)?.run_id
    witness.told.push({ attempt_id, run_id, at: world.time.now() })
  }
  const status = await request(site, process, workers, (worker) => worker.cancel(attempt_ids))
  if (status === UNANSWERED) throw new Error('It did not answer.')
  return { status, is_taken: status < 300 }
}

const ANSWER_WITHIN_MS = 2 * SECOND_MS
const UNREACHED_MS_MAX = 40 * SECOND_MS

/** Asks whether the API is there, and waits no longer for it than the real one does. */
function askerOf(site: Site, process: Process): () => Promise<string | undefined> {
  const { weather } = site
  const { clock } = process
  let unreached_until = 0
  return async () => {
    if (weather.happens('api_unreached')) unreached_until = clock.elapsed() + weather.random.below(UNREACHED_MS_MAX)
    if (clock.elapsed() < unreached_until) return 'It is not to be reached from here.'
    const answer = askApi(site, process, async () => 'ok' as const)
    const late = clock.sleep(ANSWER_WITHIN_MS).then((): typeof UNANSWERED => UNANSWERED)
    return (await Promise.race([answer, late])) === UNANSWERED ? 'It did not answer.' : undefined
  }
}

export function createAutomation(site: Site, name: string, options: Actor['options'], portOf: (process: Process) => DispatchPort): Actor {
  return {
    name,
    options,
    think_ms: (random) => random.below(300),
    begin(process) {
      const { weather, pokes, world } = site
      let wake: () => void = () => undefined
      /** Since the last turn began: one that comes during a turn is answered by the next, as the loop of a workspace does it. */
      let isPoked = false
      let wait_ms = 0
      let opened: Automation | undefined
      async function open(): Promise<Automation> {
        const { store, clock, random } = process
        const appender = await openAppender({ store, clock, random: random.bytes, scope: world.scope })
        const automation = openAutomation(site, process, portOf(process), watched(world, process, appender))
        pokes.set(name, () => {
          isPoked = true
          wake()
        })
        void sweepOn(process, automation).catch((error: unknown) => noteBug(world, name, error))
        return automation
      }
      return async () => {
        opened ??= await open()
        const { decider } = opened
        const poked = new Promise<void>((resolve) => (wake = resolve))
        if (wait_ms > 0 && !isPoked) await Promise.race([poked, process.clock.sleep(wait_ms)])
        if (weather.happens('process_ends')) return process.kill()
        // A turn that failed is asked for again soon.
        wait_ms = 2 * SECOND_MS
        isPoked = false
        const { more, wake_in_ms } = await decider.turn()
        wait_ms = more ? 0 : Math.min(BACKSTOP_MS, Math.max(WAIT_MS_MIN, wake_in_ms ?? BACKSTOP_MS))
      }
    },
  }
}

/** Beside the turns, and for as long as something is out that has not started. */
async function sweepOn({ clock, isGone }: Process, { decider, hand_over }: Omit<Automation, 'cancel_push'>): Promise<void> {
  while (!isGone()) {
    await clock.sleep(SWEEP_EVERY_MS)
    const isOut = decider.workspace().rows.hotRows('dispatch_outbox').length > 0
    try {
      if (isOut) await hand_over.sweep()
    } catch (error) {
      if (!isOperatingError(error)) throw error
    }
  }
}
