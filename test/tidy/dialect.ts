// A ratchet for plain English. The code grew with words that readers stumble over; until they are all gone, their number in each
// folder may only fall. test/tidy/dialect.json has the numbers.

import type { TextFile } from './text.js'

const WORDS = /\b(?:nobody|whoever|whatever|somebody|anew|is no|says so)\b/gi
/** A type is a noun: `StatusCommand`, and not `Told`. */
const PARTICIPLE_TYPES = /\b(?:type|interface) \w*(?:Told|Asked|Said|Seen)\b/g
const PATHS = /^(?:src|test|bench|scripts|docs|examples|temporal)\/.*\.(?:ts|js|md|yml)$|^[A-Z]+\.md$/
/** These name the words themselves. */
const EXEMPT: readonly string[] = ['test/tidy/dialect.ts', 'test/tidy.test.ts']

export type DialectCounts = Readonly<Record<string, number>>

/** The folder that a file counts in: two levels deep in src and test, else one. */
function folderOf(path: string): string {
  const parts = path.split('/').slice(0, -1)
  return parts.slice(0, parts[0] === 'src' || parts[0] === 'test' ? 2 : 1).join('/') || '.'
}

export function countDialect(files: readonly TextFile[]): DialectCounts {
  const counts = new Map<string, number>()
  for (const { path, text } of files) {
    if (!PATHS.test(path) || EXEMPT.includes(path)) continue
    const found = (text.match(WORDS)?.length ?? 0) + (text.match(PARTICIPLE_TYPES)?.length ?? 0)
    if (found > 0) counts.set(folderOf(path), (counts.get(folderOf(path)) ?? 0) + found)
  }
  return Object.fromEntries([...counts].sort(([left], [right]) => (left < right ? -1 : 1)))
}

/** What to do where the numbers differ. */
export function dialectFaults(found: DialectCounts, recorded: DialectCounts): readonly string[] {
  return [...new Set([...Object.keys(found), ...Object.keys(recorded)])].sort().flatMap((folder) => {
    const [now, before] = [found[folder] ?? 0, recorded[folder] ?? 0]
    if (now > before)
      return [
        `${folder}: ${now} instead of ${before}. In what you have added, name the caller, the worker or the reader, and name types by nouns.`,
      ]
    return now < before ? [`${folder}: only ${now} are left. Write ${now} in test/tidy/dialect.json.`] : []
  })
}
