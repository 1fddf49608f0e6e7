// Merges at the beginning of a turn where nobody else has merged for long: the pointer names every revision since the last merge,
// and has room for so many. It takes in what is fresh alone, and leaves all other merging to maintenance.

import { mergeBase } from '../compactor/merge.js'
import { isOperatingError, messageOf } from '../core/errors.js'
import { DELTAS_TURN_MERGES } from '../core/limits.js'
import { foldVersionOf, type TurnDeps } from './pass.js'
import type { Workspace } from './workspace.js'

export const isRoomScarce = ({ turn_merges_at = DELTAS_TURN_MERGES }: TurnDeps, { snapshot }: Workspace): boolean =>
  (snapshot?.deltas.length ?? 0) >= turn_merges_at

/** Where it fails the turn goes on: while there is room, publishing is not what is broken. */
export async function makeRoom(deps: TurnDeps, { snapshot }: Workspace): Promise<void> {
  const since = `${snapshot?.deltas.length ?? 0} revisions were published since the last merge`
  try {
    const { kind } = await mergeBase(deps, { is_brief: true, fold_version: foldVersionOf(deps) })
    if (kind === 'merged') deps.log?.(`${since}, so this turn merged them by itself: see why the maintenance loop does not.`)
  } catch (error) {
    if (!isOperatingError(error)) throw error
    deps.log?.(`${since}, and this turn could not merge them by itself: ${messageOf(error)}`)
  }
}
