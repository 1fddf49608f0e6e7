// What whoever changes settings has to know before: what cannot be undone, and what does not happen at once. Sentences.

import { DAY_MS, HOUR_MS, instantText } from '../../core/time.js'
import type { AsOfReach, RetentionEffect, SettingChange } from './effect.js'

type Unwarned = Omit<RetentionEffect, 'warnings'>

export const warningsOf = (effect: Unwarned): readonly string[] =>
  effect.changes.length === 0 ? ['Nothing would change: these are the settings that hold.'] : effect.changes.flatMap(warningOf(effect))

const warningOf =
  ({ expiring, moving, as_of }: Unwarned) =>
  (change: SettingChange): readonly string[] => {
    const { setting, from, to } = change
    switch (setting) {
      case 'idempotency_hours':
      case 'refusals_days':
      case 'outbox_days': {
        const found = expiring.find((one) => one.setting === setting)
        if (found === undefined) return []
        const { table, expired_before, would_expire_before, rows } = found
        const unit_ms = setting === 'idempotency_hours' ? HOUR_MS : DAY_MS
        if (to > from) {
          const next = instantText(expired_before + to * unit_ms)
          return [
            `Nothing comes back: rows of ${table} from before ${instantText(expired_before)} have expired. The next ones expire at ${next}.`,
          ]
        }
        const lost = `${rowsText(rows)} of ${table} from before ${instantText(would_expire_before)} would expire at once, and a later change does not bring them back.`
        if (setting !== 'idempotency_hours') return [lost]
        return [lost, 'Who says again what was said before that instant is taken to say it for the first time.']
      }
      case 'cold_after_days': {
        if (to > from) return ['What has moved stays where it is; what has not moved yet waits longer.']
        const total = moving.reduce((sum, { rows }) => sum + rows, 0)
        return [
          `${rowsText(total)} would move with the next merges. A later change does not move them back, and readers see no difference.`,
        ]
      }
      case 'skipped_ticks_days':
        return ['It counts for instants that are skipped from then on: rows that are there keep the end that they have.']
      case 'no_data_days':
        return ['It counts for evaluations of sensors, of which this version has none.']
      case 'as_of_minutes_hours':
      case 'as_of_hours_days':
        return as_of === null ? [] : asOfWarning(change, as_of)
    }
  }

function asOfWarning({ setting, from, to }: SettingChange, { now, then }: { readonly now: AsOfReach; readonly then: AsOfReach }): string[] {
  const what = setting === 'as_of_minutes_hours' ? 'The last revision of each minute' : 'The last revision of each hour'
  if (to > from) return [`${what} is kept longer from then on. Nothing comes back that was let go before.`]
  const lost = now.revisions - then.revisions
  return [
    `${lost} ${lost === 1 ? 'revision' : 'revisions'} could not be opened any more, at once; collection removes their files from ten minutes later on, and a later change does not bring them back.`,
  ]
}

const rowsText = (count: number): string => `${count} ${count === 1 ? 'row' : 'rows'}`
