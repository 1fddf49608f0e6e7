// What a deploy changes, as a plan that a person reads before it happens. Pure.

import type { DeployAnswer } from './answers.js'
import { painted, type Screen } from './screen.js'

type Diff = DeployAnswer['diff']
type MemberChange = Diff['location'][number]

export const isEmptyDiff = ({ added, changed, removed, location }: Diff): boolean =>
  added.length + changed.length + removed.length + location.length === 0

/** `+` added, `~` changed with its members below, `-` removed, `=` how many stay. */
export function planLines(diff: Diff, location_name: string, screen: Pick<Screen, 'hasColour'>): readonly string[] {
  const { added, changed, removed, location, unchanged_count } = diff
  const changes: readonly (readonly [string, readonly MemberChange[]])[] = [
    ...(location.length === 0 ? [] : [[`location ${location_name}`, location] as const]),
    ...changed.map(({ asset_key, members }) => [asset_key, members] as const),
  ]
  return [
    ...added.map((asset_key) => painted(screen, 'green', `+ ${asset_key}`)),
    ...changes.flatMap(([what, members]) => [painted(screen, 'yellow', `~ ${what}`), ...members.map(memberLine)]),
    ...removed.map((asset_key) => painted(screen, 'red', `- ${asset_key}`)),
    ...(unchanged_count === 0 ? [] : [`= ${unchanged_count} unchanged`]),
  ]
}

function memberLine({ member, from, to }: MemberChange): string {
  return `    ${member}: ${valueText(from)} -> ${valueText(to)}`
}

const VALUE_CHARACTERS_MAX = 80

/** Whatever a definition may hold; the whole of it is in --json. */
function valueText(value: unknown): string {
  if (value === null || value === undefined) return '(none)'
  const text = JSON.stringify(value)
  return text.length <= VALUE_CHARACTERS_MAX ? text : `${text.slice(0, VALUE_CHARACTERS_MAX - 1)}…`
}
