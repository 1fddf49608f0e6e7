// Counts what a change of settings would do, before anybody asks for it. It reads, and writes nothing.

import { instantMs } from '../../core/time.js'
import { RETENTION_SETTINGS, type RetentionSetting } from '../../events/retention.js'
import { coldCut, expiryCut, isExpirySetting, type RetentionPolicy } from '../../projections/retention.js'
import { retentionChanged } from '../../projections/retention-settings.js'
import type { TableName } from '../../projections/tables.js'
import { openHistory } from '../../tables/history/history.js'
import { lettingGo } from '../../tables/history/kept.js'
import { partsOf, readPointer, type TableStore } from '../../tables/snapshot.js'
import { pagesOf } from '../pages.js'
import type { View } from '../reader.js'
import { asOfReach } from './as-of-reach.js'
import type { AskedSettings, ColdEffect, ExpiryEffect, RetentionEffect, SettingChange } from './effect.js'
import { retentionAt } from './settings.js'
import { countRows, PAGE_ROWS, partsWithin } from './span.js'
import { warningsOf } from './warning.js'

const EXPIRING: readonly { readonly setting: RetentionSetting; readonly table: TableName }[] = [
  { setting: 'idempotency_hours', table: 'idempotency_keys' },
  { setting: 'refusals_days', table: 'refusals' },
  { setting: 'outbox_days', table: 'dispatch_outbox' },
]

export async function foreseeChange(tables: TableStore, view: View | undefined, asked: AskedSettings): Promise<RetentionEffect> {
  const { published, server_time } = await readPointer(tables.store)
  const before = retentionAt(view)
  const changes = RETENTION_SETTINGS.flatMap((setting): SettingChange[] => {
    const to = asked[setting]
    return to === undefined || to === before[setting] ? [] : [{ setting, from: before[setting], to }]
  })
  if (view === undefined || published === undefined) return withWarnings({ ...NOTHING, counted_at: server_time, changes })
  const fold_time = Math.max(instantMs(view.snapshot.revision.fold_time), server_time)
  const after = retentionChanged(before, Object.fromEntries(changes.map(({ setting, to }) => [setting, to])), fold_time)
  const isChanged = (setting: RetentionSetting) => changes.some((change) => change.setting === setting)
  const expiring: ExpiryEffect[] = []
  for (const { setting, table } of EXPIRING) {
    if (isChanged(setting)) expiring.push(await expiryEffect(tables, view, { setting, table, fold_time, before, after }))
  }
  const moving = isChanged('cold_after_days') ? await coldEffects(tables, view, { fold_time, before, after }) : []
  const history = openHistory(tables.store, published.pointer)
  const as_of =
    isChanged('as_of_minutes_hours') || isChanged('as_of_hours_days')
      ? {
          now: await asOfReach(history, { now: server_time, retention: before }),
          then: await asOfReach(history, { now: server_time, retention: lettingGo(before, after, server_time) }),
        }
      : null
  return withWarnings({ sequence: view.sequence, counted_at: server_time, changes, expiring, moving, as_of })
}

type Unwarned = Omit<RetentionEffect, 'warnings'>
const NOTHING: Unwarned = { sequence: 0, counted_at: 0, changes: [], expiring: [], moving: [], as_of: null }

const withWarnings = (effect: Unwarned): RetentionEffect => ({ ...effect, warnings: warningsOf(effect) })

type Compared = { readonly fold_time: number; readonly before: RetentionPolicy; readonly after: RetentionPolicy }

async function expiryEffect(
  { files }: TableStore,
  view: View,
  { setting, table, fold_time, before, after }: Compared & { readonly setting: RetentionSetting; readonly table: TableName },
): Promise<ExpiryEffect> {
  const [now, then] = [expiryCut(table, fold_time, before), expiryCut(table, fold_time, after)]
  if (now === undefined || then === undefined || !isExpirySetting(setting)) throw new Error(`No row of ${table} expires by ${setting}.`)
  const span = { table, column: now.column, from: now.at, before: then.at }
  const whole = partsWithin(partsOf(view.snapshot, table), span)
  const isByPeriods = table !== 'dispatch_outbox'
  return {
    table,
    setting,
    column: now.column,
    expired_before: now.at,
    would_expire_before: then.at,
    rows: await countRows(files, view, span),
    files: isByPeriods ? whole.length : null,
    bytes: isByPeriods ? whole.reduce((sum, { bytes }) => sum + bytes, 0) : null,
  }
}

/** The tables that move by an instant of their own. Tasks go with their run, and what is between them. */
async function coldEffects({ files }: TableStore, view: View, { fold_time, before, after }: Compared): Promise<readonly ColdEffect[]> {
  const [from, until] = [coldCut(fold_time, before), coldCut(fold_time, after)]
  const effect = (table: TableName, column: string, rows: number): ColdEffect => ({ table, column, before: until, rows })
  const span = (column: string) => [
    { column, is: '>=' as const, value: from },
    { column, is: '<' as const, value: until },
  ]
  let [runs, tasks, ticks] = [0, 0, 0]
  if (from < until) {
    for await (const rows of pagesOf(view, 'runs', { where: span('finished_at'), page_rows: PAGE_ROWS })) {
      runs += rows.length
      tasks += rows.reduce((sum, { tasks_total }) => sum + tasks_total, 0)
    }
    const ticked = [...span('scheduled_for'), { column: 'expires_at', is_null: true } as const]
    for await (const rows of pagesOf(view, 'schedule_ticks', { where: ticked, page_rows: PAGE_ROWS })) ticks += rows.length
  }
  // What expires goes for good, and does not move first.
  const gone = expiryCut('dispatch_outbox', fold_time, after)?.at ?? from
  const outbox = await countRows(files, view, { table: 'dispatch_outbox', column: 'closed_at', from: Math.max(from, gone), before: until })
  return [
    effect('runs', 'finished_at', runs),
    effect('tasks', 'finished_at of the run', tasks),
    effect('dispatch_outbox', 'closed_at', outbox),
    effect('schedule_ticks', 'scheduled_for', ticks),
  ]
}
