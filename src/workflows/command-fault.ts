// Checks what an update of an entity's loop was sent with. The Temporal UI knows no schema, so what is not understood is refused
// before anything is appended: a partition that was dropped would be another partition. Pure.

/** What every command may have, each with an example for the sentence that refuses. */
const COMMON = { request_id: 'by-hand-1', requested_by: 'user:1', reason: 'A trial.' }

const SHOWN_CHARACTERS_MAX = 100
const shown = (value: unknown): string => (JSON.stringify(value) ?? typeof value).slice(0, SHOWN_CHARACTERS_MAX)

/** `members`: what this command may have besides, each with an example. undefined: it can be carried out. */
export function commandFault(kind: string, members: Readonly<Record<string, string>>, request: unknown): string | undefined {
  if (request === undefined || request === null) return undefined
  if (typeof request !== 'object' || Array.isArray(request)) {
    return `The ${kind} came with ${shown(request)}. Send it an object, such as {"request_id": "by-hand-1"}, or nothing.`
  }
  const examples: Readonly<Record<string, string>> = { ...COMMON, ...members }
  for (const [name, value] of Object.entries(request)) {
    if (!Object.hasOwn(examples, name)) {
      return `A ${kind} has no member ${shown(name)}. It has ${Object.keys(examples).join(', ')}: take one of them, or leave it out.`
    }
    if (typeof value !== 'string' || (name === 'request_id' && value === '')) {
      return `The ${kind}'s ${name} is ${shown(value)}. Give it text, such as "${examples[name]}", or leave it out.`
    }
  }
  return undefined
}

/** What can be meant of it: the members that are known and are text. A signal cannot be refused. */
export function readMembers(members: Readonly<Record<string, string>>, request: unknown): Readonly<Record<string, string>> {
  if (typeof request !== 'object' || request === null) return {}
  const known = { ...COMMON, ...members }
  return Object.fromEntries(Object.entries(request).filter(([name, value]) => Object.hasOwn(known, name) && typeof value === 'string'))
}
