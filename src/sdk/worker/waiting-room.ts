// Attempts that were dispatched ahead, kept until a slot is free. Nobody has asked whether they may start, so one that is
// forgotten costs nothing: Servo gives it to somebody else.

import type { Dispatch } from '../../api/contract/worker.js'
import type { Asset } from '../dependency.js'
import { pause } from './pause.js'

type Waiting = {
  readonly dispatch: Dispatch
  readonly asset: Asset
  /** Ends the wait: with an attempt that was begun, or without one. */
  readonly leave: (isAsked: Promise<boolean>) => void
  readonly isAsked: Promise<boolean>
}

export type WaitingRoom = {
  /** false: there is no room for it, or it was not dispatched ahead. */
  readonly add: (dispatch: Dispatch, asset: Asset) => boolean
  readonly has: (attempt_id: string) => boolean
  readonly size: () => number
  /** The one with the lowest place, out of the room; of two the one that came first. */
  readonly next: () => Pick<Waiting, 'dispatch' | 'asset' | 'leave'> | undefined
  /** As `asked` of an attempt that was begun; false: it was forgotten. undefined: it is not here. */
  readonly asked: (attempt_id: string) => Promise<boolean> | undefined
  readonly forget: (attempt_id: string) => void
  readonly forgetAll: () => void
}

const NEVER = Promise.resolve(false)

export function createWaitingRoom(size_max: number): WaitingRoom {
  /** In the order in which they came. */
  const waiting = new Map<string, Waiting>()

  function forget(attempt_id: string): void {
    waiting.get(attempt_id)?.leave(NEVER)
  }

  function add(dispatch: Dispatch, asset: Asset): boolean {
    const { attempt_id, wait_for_slot } = dispatch
    if (wait_for_slot === undefined || waiting.size >= size_max) return false
    const over = new AbortController()
    let leave: Waiting['leave'] = () => undefined
    const isAsked = new Promise<boolean>((resolve) => {
      leave = (asked) => {
        waiting.delete(attempt_id)
        over.abort()
        resolve(asked)
      }
    })
    waiting.set(attempt_id, { dispatch, asset, leave, isAsked })
    void pause(wait_for_slot.ms_max, over.signal).then(() => leave(NEVER))
    return true
  }

  return {
    add,
    has: (attempt_id) => waiting.has(attempt_id),
    size: () => waiting.size,
    next() {
      let first: Waiting | undefined
      for (const each of waiting.values()) if (first === undefined || placeOf(each) < placeOf(first)) first = each
      return first
    },
    asked: (attempt_id) => waiting.get(attempt_id)?.isAsked,
    forget,
    forgetAll() {
      for (const attempt_id of [...waiting.keys()]) forget(attempt_id)
    },
  }
}

const placeOf = ({ dispatch }: Waiting): number => dispatch.wait_for_slot?.place ?? 0
