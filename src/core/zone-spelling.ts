// The letter case of a zone's name as the IANA database writes it. Whatever the case, a name is the same zone; kept as it is
// typed, it would count as another one. The name itself stays: US/Eastern is not turned into America/New_York.

import { isZone } from './zone.js'

/** Words of names that the database has and `Intl` does not list, where they are not spelled with one capital in front. */
const IRREGULAR =
  'ACT BajaNorte BajaSur CET CHAT CST6CDT ComodRivadavia DeNoronha EET EST EST5EDT EasterIsland GB GMT GMT0 HST IN LHI MET MST MST7MDT NSW NZ PRC PST8PDT ROC ROK SU UCT US UTC W WET'

const WORDS: ReadonlyMap<string, string> = new Map(IRREGULAR.split(' ').map((word) => [word.toLowerCase(), word]))

let listed: ReadonlyMap<string, string> | undefined

/** What is no zone is left as it is, for whoever says what is wrong with it. */
export function zoneSpelling(name: string): string {
  if (!isZone(name)) return name
  listed ??= new Map(Intl.supportedValuesOf('timeZone').map((zone) => [zone.toLowerCase(), zone]))
  const lower = name.toLowerCase()
  return listed.get(lower) ?? lower.replaceAll(/[a-z][a-z0-9]*/g, (word) => WORDS.get(word) ?? word.charAt(0).toUpperCase() + word.slice(1))
}
