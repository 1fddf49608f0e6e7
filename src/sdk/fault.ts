// What is wrong with a definition: all of it at once, because nobody wants to mend a file one line a try.

export class DefinitionError extends Error {
  readonly faults: readonly string[]

  constructor(what: string, faults: readonly string[]) {
    super(
      faults.length === 1 ? `${what} is wrong: ${faults[0]}` : `${what} has ${faults.length} faults:\n${faults.map(indented).join('\n')}`,
    )
    this.name = 'DefinitionError'
    this.faults = faults
  }
}

const indented = (fault: string): string => `  - ${fault.replaceAll('\n', '\n    ')}`

const SHOWN_CHARACTERS_MAX = 80

/** A value as a person wrote it, cut where it gets long. */
export function shown(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > SHOWN_CHARACTERS_MAX ? `${value.slice(0, SHOWN_CHARACTERS_MAX)}…` : value)
  }
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (value instanceof Date) return 'a Date'
  if (typeof value === 'object' && value !== null) return `an object with ${Object.keys(value).slice(0, 5).join(', ') || 'no members'}`
  return String(value)
}

/** `rule` ends the sentence "Give it …". */
export const wrong = (field: string, value: unknown, rule: string): string =>
  `${field} ${value === undefined ? 'is missing' : `is ${shown(value)}`}. Give it ${rule}.`
