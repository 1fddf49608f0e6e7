// The clocks of a zone, asked of Intl hour by hour and, in an hour in which they changed, second by second. The engine's own
// reading of zones is not asked: it looks every three days and bisects.

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000

/** A stretch of real time in which a zone's clocks are off UTC by the same. */
export type Stretch = { readonly from_ms: number; readonly to_ms: number; readonly offset_ms: number }

/** Covers from_ms up to to_ms, which have to be whole hours. */
export function stretchesOf(zone: string, from_ms: number, to_ms: number): readonly Stretch[] {
  const offsetOf = offsetReader(zone)
  const stretches: Stretch[] = []
  let begun_ms = from_ms
  let offset_ms = offsetOf(from_ms)
  for (let hour_ms = from_ms + HOUR_MS; hour_ms <= to_ms; hour_ms += HOUR_MS) {
    if (offsetOf(hour_ms) === offset_ms) continue
    for (let at_ms = hour_ms - HOUR_MS + SECOND_MS; at_ms <= hour_ms; at_ms += SECOND_MS) {
      const there_ms = offsetOf(at_ms)
      if (there_ms === offset_ms) continue
      stretches.push({ from_ms: begun_ms, to_ms: at_ms, offset_ms })
      begun_ms = at_ms
      offset_ms = there_ms
    }
  }
  return [...stretches, { from_ms: begun_ms, to_ms, offset_ms }].filter((stretch) => stretch.from_ms < stretch.to_ms)
}

function offsetReader(zone: string): (at_ms: number) => number {
  const format = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  return (at_ms) => {
    const shown = /^(\d\d)\/(\d\d)\/(\d+), (\d\d):(\d\d):(\d\d)$/.exec(format.format(at_ms))
    if (shown === null) throw new Error(`Intl shows ${at_ms} in ${zone} as ${JSON.stringify(format.format(at_ms))}.`)
    const [month, day, year, hour, minute, second] = shown.slice(1).map(Number) as [number, number, number, number, number, number]
    return Date.UTC(year, month - 1, day, hour, minute, second) - at_ms
  }
}
