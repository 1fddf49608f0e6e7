// The store's creation stamps: nanoseconds that every process draws from one hand, a file whose name is the last stamp.
// A draw renames it from the last stamp to the next one. The rename is the compare-and-swap: of two processes that
// draw at once one finds the old name gone, reads the hand and draws again. Nobody holds anything that a kill could leave
// behind, and a put that begins after another was acknowledged draws a later stamp, whatever the clocks say: this is what
// "fold of the second listing only what was created no later than the youngest of the first" rests on (DESIGN section 3).

import { closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, unlinkSync } from 'node:fs'
import { type Clock, instantText } from '../core/time.js'
import { isFsError, whenThere } from './local-file.js'

export type StampClock = {
  /** A stamp that no put has had, later than every one that was drawn before this call. */
  readonly draw: () => Stamp
  /** The store's time in milliseconds: the clock's, but never before a stamp that this process knows of. */
  readonly serverTime: () => number
}

export type Stamp = { readonly text: string; readonly at_ms: number }

const NANOSECONDS_PER_MS = 1_000_000n
/** Wide enough for nanoseconds until the year 2286; one width makes the order of the names that of the numbers. */
const NAME_DIGITS = 19
/** How old this process's knowledge of the others' stamps may be. */
const REFRESH_MS = 1_000

type StampClockOptions = {
  /** The clock's own folder; it is made with the first draw, and until then the machine's clock is the store's. */
  readonly folder: string
  readonly temporary: string
  readonly clock: Pick<Clock, 'now' | 'elapsed'>
  readonly unique: () => string
}

export function createStampClock({ folder, temporary, clock, unique }: StampClockOptions): StampClock {
  let last: bigint | undefined
  let has_drawn = false
  let refreshed_at = Number.NEGATIVE_INFINITY
  const read = (): bigint => {
    refreshed_at = clock.elapsed()
    for (;;) {
      const hand = readHand(folder)
      if (hand !== undefined) return hand
      beginClock(`${temporary}/clock-${unique()}`, folder)
    }
  }
  /** Who only reads leaves the hand as it is, and begins no clock. */
  const look = (): bigint | undefined => {
    refreshed_at = clock.elapsed()
    return handsIn(folder).at(-1) ?? last
  }
  return {
    draw() {
      // Not by what was only looked at: a second hand that was left beside it would be turned by somebody.
      if (!has_drawn) last = read()
      has_drawn = true
      for (;;) {
        const before = last ?? read()
        const now = BigInt(Math.floor(clock.now())) * NANOSECONDS_PER_MS
        const next = now > before ? now : before + 1n
        last = moveHand(folder, before, next) ? next : undefined
        if (last !== undefined) return stampOf(next)
      }
    },
    serverTime() {
      if (clock.elapsed() - refreshed_at > REFRESH_MS) last = has_drawn ? read() : look()
      return Math.max(Math.floor(clock.now()), last === undefined ? 0 : Number(last / NANOSECONDS_PER_MS))
    },
  }
}

/** Of nanoseconds since the epoch. */
export function stampOf(stamp: bigint): Stamp {
  const at_ms = Number(stamp / NANOSECONDS_PER_MS)
  return { text: `${instantText(at_ms).slice(0, -1)}${String(stamp % NANOSECONDS_PER_MS).padStart(6, '0')}Z`, at_ms }
}

const handName = (stamp: bigint): string => String(stamp).padStart(NAME_DIGITS, '0')

function moveHand(folder: string, from: bigint, to: bigint): boolean {
  return (
    whenThere(() => {
      renameSync(`${folder}/${handName(from)}`, `${folder}/${handName(to)}`)
      return true
    }) ?? false
  )
}

/** A rename in progress may show both names, or neither for a moment: what counts is what the next rename finds. */
function readHand(folder: string): bigint | undefined {
  const hands = handsIn(folder)
  const hand = hands.pop()
  // A second hand comes only from a copy that was made while the store was in use. Left alone, some process would turn it.
  for (const stale of hands) whenThere(() => unlinkSync(`${folder}/${handName(stale)}`))
  return hand
}

/** Ascending. */
const handsIn = (folder: string): bigint[] => (whenThere(() => readdirSync(folder)) ?? []).sort().map(BigInt)

/** The clock's folder appears with its hand in it, so that two processes that begin at once begin one clock. */
function beginClock(prepared: string, folder: string): void {
  mkdirSync(prepared, { recursive: true })
  closeSync(openSync(`${prepared}/${handName(0n)}`, 'w'))
  try {
    renameSync(prepared, folder)
  } catch (error) {
    rmSync(prepared, { recursive: true, force: true })
    if (!isFsError(error, 'ENOTEMPTY', 'EEXIST')) throw error
  }
}
