// What the API says went wrong, for people: its sentence, and each fault on a line of its own. Pure.

import type { ApiProblem } from './client.js'

export function problemText({ detail, title, status, errors = [], request_id }: ApiProblem): string {
  const sentence = detail ?? title ?? `The API answered ${status}.`
  const [only] = errors
  if (only === undefined) return status >= 500 && request_id !== undefined ? `${sentence} (request ${request_id})` : sentence
  if (errors.length === 1 && sentence.includes(only.message)) return sentence
  // The sentence often has all of them in a row: what is left of it says what came of it.
  const rest = errors.reduce((text, { message }) => text.replace(message, ''), sentence)
  const head = rest.replaceAll(/\s+/g, ' ').trim() || title || 'It cannot be done as it was asked for.'
  return [head, ...errors.map(({ path, message }) => `  - ${path === '' ? '' : `${path}: `}${message}`)].join('\n')
}
