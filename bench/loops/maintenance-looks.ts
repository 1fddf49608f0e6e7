// How often maintenance looks by the clock in a day after which nothing is published: by the rule that its answers follow.

import { lookAgainMs } from '../../src/compactor/upkeep.js'
import { DAY_MS } from '../../src/core/time.js'

export function maintenanceLooksADay(): number {
  let looks = 0
  for (let idle_ms = 0; idle_ms < DAY_MS; idle_ms += lookAgainMs(idle_ms)) looks += 1
  return looks
}
