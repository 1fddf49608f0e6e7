// What is wrong with the name of a zone, and which one was probably meant.

import { NAME_CHARACTERS_MAX } from './limits.js'
import { nearestWord } from './spelling.js'
import { isZone } from './zone.js'

/** A sentence about a name that is no zone; null: it is one. */
export function zoneProblem(name: string): string | null {
  if (isZone(name)) return null
  if (name.length > NAME_CHARACTERS_MAX) return `A time zone has at most ${NAME_CHARACTERS_MAX} characters.`
  const meant = nearestZone(name)
  const cure =
    meant === null ? 'Give a name of the IANA database, such as "Europe/Berlin" or "UTC".' : `Did you mean ${JSON.stringify(meant)}?`
  return `There is no time zone ${JSON.stringify(name)}. ${cure}${isOffset(name) ? ' An offset is no zone: it hides changes of the clocks.' : ''}`
}

const isOffset = (name: string): boolean => /^(?:utc|gmt)?[+-]\d/i.test(name)

/** By the whole name, and where only a city was given or its region is wrong, by the city. */
export function nearestZone(name: string): string | null {
  if (isOffset(name)) return null
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')]
  const wanted = name.trim().replaceAll(' ', '_')
  const exact = nearestWord(wanted, zones)
  if (exact !== undefined) return exact
  const cities = new Map(zones.map((zone) => [cityOf(zone), zone]))
  return cities.get(nearestWord(cityOf(wanted), cities.keys()) ?? '') ?? null
}

const cityOf = (zone: string): string => zone.slice(zone.lastIndexOf('/') + 1)
