// Partitions as definitions write them. They are read in full by partitions/definition.ts; here it is only what can be
// said without counting. Events keep members that they do not know, and the API refuses them, so each schema is here twice.

import { z } from 'zod'
import { isZone } from '../core/zone.js'
import { nearestZone } from '../core/zone-name.js'
import { id, integer, type Parsed, text } from './value.js'

const ZONE = 'name of the IANA time zone database'
const zone = z.string().refine(isZone, { error: `a ${ZONE}, such as Europe/Berlin` })
const common = {
  timezone: zone.exactOptional(),
  end_offset: integer(-1_000_000, 1_000_000).exactOptional(),
  fmt: text.exactOptional(),
  exclusions: z.array(text).exactOptional(),
}
const dates = { start_date: text, end_date: text.exactOptional(), minute_offset: integer(0, 59).exactOptional() }
const hour_offset = integer(0, 23).exactOptional()

const hourly = z.object({ type: z.literal('hourly'), ...dates, ...common })
const daily = z.object({ type: z.literal('daily'), ...dates, hour_offset, ...common })
const weekly = z.object({ type: z.literal('weekly'), ...dates, hour_offset, day_offset: integer(0, 6).exactOptional(), ...common })
const monthly = z.object({ type: z.literal('monthly'), ...dates, hour_offset, day_offset: integer(1, 31).exactOptional(), ...common })
const cron = z.object({ type: z.literal('cron'), start: text, end: text.exactOptional(), cron_schedule: text, ...common })
const fixed = z.object({ type: z.literal('static'), keys: z.array(id('partition_key')).min(1) })

const KINDS = '"hourly", "daily", "weekly", "monthly", "cron" or "static"'
const ofKind = (rest: string) => ({
  error: ({ code }: { readonly code: string }) => (code === 'invalid_union' ? `${KINDS}${rest}` : 'an object with a type'),
})
const OF_DIMENSION = ofKind('; a dimension has no other type')
const OF_ASSET = ofKind(', or "multi" for several dimensions; other types need a later version of Servo')

const dimension = z.discriminatedUnion('type', [hourly, daily, weekly, monthly, cron, fixed], OF_DIMENSION)
const multi = z.object({ type: z.literal('multi'), dimensions: z.record(id('name'), dimension) })
export const partitions = z.discriminatedUnion('type', [hourly, daily, weekly, monthly, cron, fixed, multi], OF_ASSET)
export type Partitions = Parsed<typeof partitions>

/** With the name that was probably meant: a table that tells of a fault must not change with the zones that a process knows. */
const zoneAsked = z.string().refine(isZone, {
  error({ input }) {
    const meant = nearestZone(String(input))
    return meant === null ? `a ${ZONE}, such as Europe/Berlin` : `${JSON.stringify(meant)}, or another ${ZONE}`
  },
})
const asked = { timezone: zoneAsked.exactOptional() }
const strictKinds = [
  hourly.extend(asked).strict(),
  daily.extend(asked).strict(),
  weekly.extend(asked).strict(),
  monthly.extend(asked).strict(),
  cron.extend(asked).strict(),
  fixed.strict(),
] as const
const strictMulti = multi.strict().extend({ dimensions: z.record(id('name'), z.discriminatedUnion('type', strictKinds, OF_DIMENSION)) })
export const partitionsAsked = z.discriminatedUnion('type', [...strictKinds, strictMulti], OF_ASSET)
