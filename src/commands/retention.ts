// Asks for a workspace to keep things for another time.

import { retentionChangedKey } from '../core/keys.js'
import type { Draft } from '../events/draft.js'
import { RETENTION_SETTINGS } from '../events/retention.js'
import type { View } from '../readers/reader.js'
import type { AskedSettings } from '../readers/retention/effect.js'
import { type By, by } from './by.js'
import { unfoldable } from './foldable.js'
import { type Problem, problem } from './problem.js'

/** A request that names no setting is a mistake, and changes nothing. */
export function planRetentionChange(
  view: Pick<View, 'snapshot'> | undefined,
  asked: AskedSettings,
  sender: By,
  request_id: string,
): Draft | Problem {
  const settings = askedIn(asked)
  if (Object.keys(settings).length === 0) return noSetting()
  const draft: Draft = {
    event_type: 'RetentionChanged',
    idempotency_key: retentionChangedKey(request_id),
    payload: { settings, ...by(sender) },
  }
  return unfoldable(view, [draft]) ?? draft
}

/** The settings of a request that has other members too. */
export function askedIn(asked: AskedSettings): { readonly [Setting in keyof AskedSettings]?: number } {
  const named = RETENTION_SETTINGS.filter((setting) => asked[setting] !== undefined)
  return Object.fromEntries(named.map((setting) => [setting, asked[setting] as number]))
}

export const noSetting = (): Problem => problem('bad-input', `No setting was named. Give at least one of ${RETENTION_SETTINGS.join(', ')}.`)
