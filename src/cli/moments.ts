// Instants and durations as people read them: local time, and how long ago. Programs get what the API says.

const SECOND_MS = 1_000
const MINUTE_S = 60
const HOUR_S = 3_600
const DAY_S = 86_400

/** Two units at most: `850 ms`, `4.2 s`, `1 min 5 s`, `2 h 3 min`, `3 d 4 h`. */
export function durationText(duration_ms: number): string {
  const ms = Math.max(0, Math.round(duration_ms))
  if (ms < SECOND_MS) return `${ms} ms`
  // Tenths are of interest while they are a part of what was waited for.
  if (ms < 10 * SECOND_MS) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`
  const seconds = Math.floor(ms / SECOND_MS)
  if (seconds < MINUTE_S) return `${seconds} s`
  if (seconds < HOUR_S) return inUnits(seconds, [MINUTE_S, 'min'], [1, 's'])
  if (seconds < DAY_S) return inUnits(seconds, [HOUR_S, 'h'], [MINUTE_S, 'min'])
  return inUnits(seconds, [DAY_S, 'd'], [HOUR_S, 'h'])
}

/** A decision's time is that of its turn, which may be earlier by a part of a second: what is less says nothing. */
export const delayText = (delay_ms: number): string => (delay_ms < SECOND_MS ? 'under 1 s' : durationText(delay_ms))

type Unit = readonly [seconds: number, name: string]

function inUnits(seconds: number, [large, largeName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.floor((seconds % large) / small)
  return `${Math.floor(seconds / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`
}

/** `just now`, `12 s ago`, `3 h ago`, `in 5 min`: one unit, because more would be noise. */
export function agoText(at_ms: number, now: number): string {
  const seconds = Math.floor(Math.abs(now - at_ms) / SECOND_MS)
  if (seconds < 1) return 'just now'
  const text = oneUnit(seconds)
  return at_ms > now ? `in ${text}` : `${text} ago`
}

function oneUnit(seconds: number): string {
  if (seconds < MINUTE_S) return `${seconds} s`
  if (seconds < HOUR_S) return `${Math.floor(seconds / MINUTE_S)} min`
  if (seconds < DAY_S) return `${Math.floor(seconds / HOUR_S)} h`
  return `${Math.floor(seconds / DAY_S)} d`
}

const two = (count: number): string => String(count).padStart(2, '0')

/** In the zone of this machine: `2025-01-15 10:00:00`. */
export function localText(at_ms: number): string {
  const at = new Date(at_ms)
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clockText(at_ms)}`
}

export function clockText(at_ms: number): string {
  const at = new Date(at_ms)
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}

/** `2025-01-15 10:00:00 (3 min ago)`; nothing for what has not happened. */
export function momentText(instant: string | null | undefined, now: number): string {
  if (instant === null || instant === undefined) return ''
  const at_ms = Date.parse(instant)
  return `${localText(at_ms)} (${agoText(at_ms, now)})`
}

/** From one instant to another, or to now where the second has not happened. */
export function tookText(from: string | null, to: string | null, now: number): string {
  if (from === null) return ''
  return durationText((to === null ? now : Date.parse(to)) - Date.parse(from))
}
