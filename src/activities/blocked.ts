// What an operator hears of locations whose attempts cannot be handed over because the way is set up wrongly: a line when it
// begins, one when it is wrong in another way or a deploy has not mended it, and one when attempts are taken again or none is left.

import { type Clock, MINUTE_MS, SECOND_MS } from '../core/time.js'
import type { CodeLocationRow } from '../projections/asset-table.js'
import type { SendAnswer } from './dispatch.js'

type Told = {
  readonly code: string
  readonly location_version: number
  readonly since: number
  /** Since when no attempt of it is out; undefined: one is. */
  idle_since?: number | undefined
}

/** Longer than most tries wait for the next one, so that these are one trouble. */
const FORGET_AFTER_MS = MINUTE_MS

type Blocked = {
  readonly note: (location: Pick<CodeLocationRow, 'location_name' | 'location_version'>, answers: readonly SendAnswer[]) => void
  /** Told which attempts are out: of a location that has had none for a while nobody hears that it takes them again. */
  readonly noteOut: (out: readonly { readonly location_name: string }[]) => void
}

export function createBlocked({
  clock,
  log,
}: {
  readonly clock: Pick<Clock, 'elapsed'>
  readonly log: (message: string) => void
}): Blocked {
  /** Of locations that are blocked now. */
  const told = new Map<string, Told>()
  const secondsOf = ({ since }: Told): number => Math.round((clock.elapsed() - since) / SECOND_MS)
  return {
    note({ location_name, location_version }, answers) {
      const known = told.get(location_name)
      const blocked = answers.find(({ answer }) => answer === 'BLOCKED')
      if (blocked?.answer === 'BLOCKED') {
        const { code, problem } = blocked
        if (known?.code === code && location_version <= known.location_version) return
        const newest = Math.max(location_version, known?.location_version ?? 0)
        told.set(location_name, { code, location_version: newest, since: known?.since ?? clock.elapsed() })
        log(`${location_name} ${takesNone(known, location_version)}: ${problem}`)
      } else if (known !== undefined && answers.some(({ answer }) => answer === 'ACCEPTED')) {
        told.delete(location_name)
        log(`${location_name} takes attempts again, after ${secondsOf(known)} s.`)
      }
    },
    noteOut(out) {
      if (told.size === 0) return
      const names = new Set(out.map(({ location_name }) => location_name))
      for (const [location_name, known] of told) {
        known.idle_since = names.has(location_name) ? undefined : (known.idle_since ?? clock.elapsed())
        if (known.idle_since === undefined || clock.elapsed() - known.idle_since < FORGET_AFTER_MS) continue
        told.delete(location_name)
        log(
          `${location_name} has no attempts to hand over any more. It took none for ${secondsOf(known)} s, and is asked again with the next one.`,
        )
      }
    },
  }
}

function takesNone(known: Told | undefined, location_version: number): string {
  if (known === undefined) return 'takes no attempts, and is asked less and less often, once a minute at last'
  return location_version > known.location_version
    ? 'was deployed anew, and takes no attempts'
    : 'takes no attempts, now for another reason'
}
