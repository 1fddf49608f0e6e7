// What a deploy changes, as a plan that a person reads before it happens. Pure.

import type { DeployAnswer } from './answers.js'
import { counted } from './local/print.js'
import { type Paint, painted } from './screen.js'

type Diff = DeployAnswer['diff']
type MemberChange = Diff['location'][number]
type KeyChanges = NonNullable<Diff['changed'][number]['partition_keys']>

const NO_SCHEDULES: NonNullable<Diff['schedules']> = { added: [], changed: [], removed: [], unchanged_count: 0 }

export const isEmptyDiff = ({ added, changed, removed, location, schedules = NO_SCHEDULES }: Diff): boolean =>
  [added, changed, removed, location, schedules.added, schedules.changed, schedules.removed].every(({ length }) => length === 0)

/** `+` added, `~` changed with its members below, `-` removed, `=` how many stay. */
export function planLines(diff: Diff, location_name: string, screen: Paint): readonly string[] {
  const { added, changed, removed, location, schedules = NO_SCHEDULES } = diff
  const unchanged_count = diff.unchanged_count + schedules.unchanged_count
  const changes: readonly (readonly [string, readonly string[]])[] = [
    ...(location.length === 0 ? [] : [[`location ${location_name}`, location.map(memberLine)] as const]),
    ...changed.map(
      ({ asset_key, members, partition_keys }) => [asset_key, [...members.map(memberLine), ...keyLines(partition_keys)]] as const,
    ),
    ...schedules.changed.map(({ schedule_name, members }) => [`schedule ${schedule_name}`, members.map(memberLine)] as const),
  ]
  return [
    ...[...added, ...schedules.added.map(named)].map((what) => painted(screen, 'green', `+ ${what}`)),
    ...changes.flatMap(([what, lines]) => [painted(screen, 'yellow', `~ ${what}`), ...lines]),
    ...[...removed, ...schedules.removed.map(named)].map((what) => painted(screen, 'red', `- ${what}`)),
    ...(unchanged_count === 0 ? [] : [`= ${unchanged_count} unchanged`]),
  ]
}

/** Names on one line; the rest is counted. */
const NAMES_MAX = 8

/** The same in a line: `- schedule nightly, ~ shop.orders (deps), + shop.new`. Removals come first, because a long line is cut at its
 *  end. */
export function planLine({ added, changed, removed, location, schedules = NO_SCHEDULES }: Diff): string {
  const membersOf = (members: readonly MemberChange[]) => ` (${members.map(({ member }) => member).join(', ')})`
  const all = [
    ...[...removed, ...schedules.removed.map(named)].map((what) => `- ${what}`),
    ...(location.length === 0 ? [] : [`~ the location${membersOf(location)}`]),
    ...changed.map(({ asset_key, members }) => `~ ${asset_key}${membersOf(members)}`),
    ...schedules.changed.map(({ schedule_name, members }) => `~ ${named(schedule_name)}${membersOf(members)}`),
    ...[...added, ...schedules.added.map(named)].map((what) => `+ ${what}`),
  ]
  return firstOf(all)
}

const NOTHING_KEPT: NonNullable<Diff['kept']> = { assets: [], schedules: [] }

/** Definitions that a deploy kept though it did not contain them; empty: none. */
export const keptLine = ({ kept = NOTHING_KEPT }: Diff): string => firstOf([...kept.assets, ...kept.schedules.map(named)])

/** The assets among them. */
export const keptAssetsLine = ({ kept = NOTHING_KEPT }: Diff): string => firstOf(kept.assets)

function firstOf(all: readonly string[]): string {
  const rest = all.length - NAMES_MAX
  return [...all.slice(0, NAMES_MAX), ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ')
}

const named = (schedule_name: string): string => `schedule ${schedule_name}`

function memberLine({ member, from, to }: MemberChange): string {
  return `    ${member}: ${valueText(from)} -> ${valueText(to)}`
}

/** What becomes of the keys of an asset whose partitions change. */
function keyLines(changes: KeyChanges | undefined): readonly string[] {
  if (changes === undefined) return []
  const { materialized_ended: ended, materialized_begun, begun, is_complete } = changes
  const ends =
    ended === 0 && is_complete
      ? 'no materialized key ends'
      : `${is_complete ? '' : 'at least '}${counted(ended, 'materialized key')} ${ended === 1 ? 'ends and stays' : 'end and stay'} as history`
  if (begun === null) return [`    ${ends}; how many keys begin is not counted: they are too many to compare`]
  if (begun === 0) return [`    ${ends}; no key begins`]
  const history = materialized_begun === 0 ? 'not materialized yet' : `${materialized_begun} of them materialized before`
  return [`    ${ends}; ${counted(begun, 'key')} ${begun === 1 ? 'begins' : 'begin'}, ${history}`]
}

const VALUE_CHARACTERS_MAX = 80

/** Whatever a definition may hold; the whole of it is in --json. */
function valueText(value: unknown): string {
  if (value === null || value === undefined) return '(none)'
  const text = JSON.stringify(value)
  return text.length <= VALUE_CHARACTERS_MAX ? text : `${text.slice(0, VALUE_CHARACTERS_MAX - 1)}…`
}
