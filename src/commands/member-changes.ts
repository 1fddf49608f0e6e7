// What differs between two definitions, member by member.

import { definitionHash } from '../core/keys.js'

export type MemberChange = { readonly member: string; readonly from: unknown; readonly to: unknown }

/** Compared as text: both come from JSON that is written in one order, or is small. */
export function memberChanges(before: object, after: object): readonly MemberChange[] {
  const [from, to] = [before, after] as readonly [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>]
  const members = [...new Set([...Object.keys(from), ...Object.keys(to)])].sort()
  return members
    .filter((member) => definitionHash({ value: from[member] }) !== definitionHash({ value: to[member] }))
    .map((member) => ({ member, from: from[member] ?? null, to: to[member] ?? null }))
}
