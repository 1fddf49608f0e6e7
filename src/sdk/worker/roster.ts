// The attempts that this worker has, and which more it takes: the same attempt once, as many as there are slots, some that wait
// for one, and none while it drains.

import type { Dispatch, DispatchAnswer } from '../../api/contract/worker.js'
import { remember } from '../../core/recent.js'
import { suggestion } from '../../core/spelling.js'
import type { CodeLocation } from '../code-location.js'
import type { Asset } from '../dependency.js'
import type { Attempt } from './attempt.js'
import { pause } from './pause.js'
import { createWaitingRoom } from './waiting-room.js'

type RosterOptions = {
  readonly location: CodeLocation
  readonly slots: number
  /** How many it keeps that were dispatched ahead. */
  readonly prefetch: number
  readonly start: (dispatch: Dispatch, asset: Asset) => Attempt
}

export type Roster = {
  readonly take: (dispatch: Dispatch) => DispatchAnswer
  /** Tells them to stop. Answers which of them this worker has. */
  readonly cancel: (attempt_ids: readonly string[]) => readonly string[]
  /** Whether the API has said that this attempt may start, or may not. It is waited for, and it is one of those taken. */
  readonly asked: (attempt_id: string) => Promise<boolean>
  /** Attempts whose code runs, or is about to. */
  readonly running: () => number
  /** Attempts that wait for a slot. */
  readonly waiting: () => number
  readonly isDraining: () => boolean
  readonly drain: (patience: { readonly grace_ms: number; readonly stop_grace_ms: number }) => Promise<void>
}

/** Those of some seconds, at the pace of a quick worker. */
const REPORTED_MAX = 1_000

export function createRoster({ location, slots, prefetch, start }: RosterOptions): Roster {
  const assets = new Map(location.assets.map((asset) => [asset.key, asset]))
  /** Until they are reported: a repeated dispatch must find them. */
  const attempts = new Map<string, Attempt>()
  const working = new Set<string>()
  /** Whose reports were taken: whoever sends one of them again has not heard of that yet, and it would wait for a slot for nothing. */
  const reported = new Map<string, true>()
  const room = createWaitingRoom(prefetch)
  let isDraining = false

  const answer = (dispatch: Dispatch): Omit<DispatchAnswer, 'attempt_id'> => {
    const { attempt_id, asset_key, location_name } = dispatch
    if (attempts.has(attempt_id) || reported.has(attempt_id) || room.has(attempt_id)) return { answer: 'ACCEPTED' }
    // Before what would be refused: the worker that takes this one's place may know the asset.
    if (isDraining) return { answer: 'BUSY' }
    if (location_name !== location.name) {
      const message = `This worker serves the code location ${location.name}, and not ${location_name}. Deploy the location with the URL of its own worker.`
      return { answer: 'REFUSED', error: { code: 'OTHER_LOCATION', message } }
    }
    const asset = assets.get(asset_key)
    if (asset === undefined) {
      const message = `The code location ${location.name} has no asset ${asset_key} in this worker.${suggestion(asset_key, [...assets.keys()])} Start the worker again with the module that was deployed.`
      return { answer: 'REFUSED', error: { code: 'UNKNOWN_ASSET', message } }
    }
    if (working.size >= slots) return { answer: room.add(dispatch, asset) ? 'ACCEPTED' : 'BUSY' }
    begin(dispatch, asset)
    return { answer: 'ACCEPTED' }
  }

  function begin(dispatch: Dispatch, asset: Asset): Attempt {
    const { attempt_id } = dispatch
    working.add(attempt_id)
    const attempt = start(dispatch, asset)
    attempts.set(attempt_id, attempt)
    void attempt.codeEnded.then(() => {
      working.delete(attempt_id)
      beginNext()
    })
    void attempt.finished.then((isReported) => {
      attempts.delete(attempt_id)
      if (isReported) remember(reported, attempt_id, true, REPORTED_MAX)
    })
    return attempt
  }

  function beginNext(): void {
    while (working.size < slots) {
      const next = room.next()
      if (next === undefined) return
      next.leave(begin(next.dispatch, next.asset).asked)
    }
  }

  return {
    take: (dispatch) => ({ attempt_id: dispatch.attempt_id, ...answer(dispatch) }),
    cancel: (attempt_ids) =>
      attempt_ids.filter((attempt_id) => {
        const isHere = attempts.has(attempt_id) || room.has(attempt_id)
        attempts.get(attempt_id)?.stop('cancel')
        room.forget(attempt_id)
        return isHere
      }),
    // Of one whose report was taken the API has said it before: otherwise a queue would deliver it again and again.
    asked: (attempt_id) => attempts.get(attempt_id)?.asked ?? room.asked(attempt_id) ?? Promise.resolve(reported.has(attempt_id)),
    running: () => working.size,
    waiting: room.size,
    isDraining: () => isDraining,
    async drain({ grace_ms, stop_grace_ms }) {
      isDraining = true
      room.forgetAll()
      const all = [...attempts.values()]
      const finished = Promise.all(all.map((attempt) => attempt.finished))
      if (await isWithin(finished, grace_ms)) return
      for (const attempt of all) attempt.stop('drain')
      if (await isWithin(finished, stop_grace_ms)) return
      for (const attempt of all) attempt.abandon()
      await finished
    },
  }
}

async function isWithin(promise: Promise<unknown>, duration_ms: number): Promise<boolean> {
  const done = new AbortController()
  void promise.then(() => done.abort())
  await pause(duration_ms, done.signal)
  return done.signal.aborted
}
