// Instants as text. Programs write RFC 3339; people may also leave the seconds out, or write a space for the T. All of them
// name their zone: a wall clock alone is another instant on each machine.

/** RFC 3339, with Z or an offset. */
export const INSTANT =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/

/** Ends a sentence that begins with "Give". */
export const INSTANT_RULE =
  'an instant of RFC 3339 with its zone: 2025-03-09T07:00:00Z for UTC, or 2025-03-09T03:00:00-04:00 for a clock four hours behind it'

/** Date.parse takes the 30th of February for the 2nd of March. */
const hasDay = (instant: string): boolean => {
  const day = Number(instant.slice(8, 10))
  return day <= 28 || day <= new Date(Date.UTC(Number(instant.slice(0, 4)), Number(instant.slice(5, 7)), 0)).getUTCDate()
}

export const isInstant = (text: string): boolean => INSTANT.test(text) && hasDay(text)

const TYPED = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?)?(Z|[+-]\d\d:\d\d)?$/

/** What a person typed, in epoch milliseconds; or what is wrong with it, and the two ways to write it. */
export function readInstant(text: string): { readonly at_ms: number } | { readonly problem: string } {
  const [, day = '', minute, seconds = ':00', zone] = TYPED.exec(text) ?? []
  const clock = `${day}T${minute ?? '00:00'}${seconds}`
  if (minute !== undefined && zone !== undefined && isInstant(clock + zone)) return { at_ms: Date.parse(clock + zone) }
  if (zone === undefined && isInstant(`${clock}Z`)) {
    return { problem: `${text} names no zone. Write ${clock}Z for UTC, or ${clock}-04:00 for a clock four hours behind it.` }
  }
  return { problem: `Give ${INSTANT_RULE}.` }
}
