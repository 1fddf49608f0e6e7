// What the API knows of the processes and stores around it: whether the store answers, and whether an automation takes the turns
// that are due. A dead automation reports nothing, so the API looks at what the newest revision asked for, and at what it lacks.

import type { Readiness } from '../api/http/deps.js'
import { isOperatingError, messageOf } from '../core/errors.js'
import { SECOND_MS } from '../core/time.js'
import type { Current } from '../readers/current.js'
import { createGauges, type GaugeDeps } from '../readers/gauges.js'
import type { OldestUnfolded } from '../readers/oldest-unfolded.js'
import type { View } from '../readers/reader.js'
import { findOverdueTurn, isUnfoldedOverdue, type TurnOverdue } from '../readers/turn-overdue.js'

/** Prometheus gives a scrape up after ten seconds, and a store that is not reachable may take longer to say so. */
const GAUGES_MS_MAX = 5 * SECOND_MS

type StoreTime = { readonly now: () => number }

/** undefined: the store does not answer. */
export function openGauges(deps: GaugeDeps) {
  const read = createGauges(deps)
  return () => within(GAUGES_MS_MAX, read())
}

async function within<T>(limit_ms: number, reading: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, limit_ms, undefined)
  })
  try {
    return await Promise.race([reading, late])
  } catch (error) {
    if (isOperatingError(error)) return undefined
    throw error
  } finally {
    clearTimeout(timer)
  }
}

export async function readReadiness(
  current: Current,
  clock: StoreTime,
  unfolded: Pick<OldestUnfolded, 'find'>,
): Promise<readonly Readiness[]> {
  try {
    const view = await current.latest()
    if (view === undefined) {
      const detail = 'Nothing is published yet: the first turn does it. Is `servo automation` running?'
      return [{ name: 'store', needed: true, ok: false, detail }]
    }
    return [
      { name: 'store', needed: true, ok: true, detail: `revision ${view.sequence}` },
      await readinessOfTurns(view, clock.now(), unfolded),
    ]
  } catch (error) {
    return [{ name: 'store', needed: true, ok: false, detail: messageOf(error) }]
  }
}

async function readinessOfTurns(view: View, now: number, unfolded: Pick<OldestUnfolded, 'find'>): Promise<Readiness> {
  const what = { name: 'automation', needed: false }
  // While revisions follow one another nothing is listed.
  const oldest_unfolded_at = isUnfoldedOverdue(view, now) ? await unfolded.find(view) : null
  const overdue = findOverdueTurn(view, oldest_unfolded_at, now)
  if (overdue === undefined) return { ...what, ok: true, detail: 'turns are taken when they are due' }
  return { ...what, ok: false, detail: `${overdueText(overdue)} ${MEND}` }
}

const MEND = 'Start `servo automation`, or look into its log and at Temporal. What is accepted meanwhile is carried out later.'

function overdueText({ reason, since, overdue_ms }: TurnOverdue): string {
  const seconds = Math.floor(overdue_ms / SECOND_MS)
  switch (reason) {
    case 'wake_up':
      return `A turn was due at ${since}, ${seconds} s ago, and has not come: schedules do not fire, and runs do not go on.`
    case 'unfolded':
      return `No turn has come for ${seconds} s, and what was accepted at ${since} waits for one: runs do not start or go on, and changes do not take effect.`
  }
}
