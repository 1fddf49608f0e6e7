// Where the batches and events of a segment lie in its text, so that what is quarantined is kept as it was written.
// It reads text that JSON.parse has accepted, and never judges it.

export type Span = { readonly start: number; readonly end: number }
type BatchSpan = Span & { readonly events: readonly Span[] }

/** In the order of the text. Where a member is there twice the last one counts, as for JSON.parse. */
export function batchSpans(text: string): readonly BatchSpan[] {
  const batches = memberAt(text, skipBlanks(text, 0), 'batches')
  return batches === undefined ? [] : elementsAt(text, batches.start).map((batch) => ({ ...batch, events: eventSpans(text, batch) }))
}

function eventSpans(text: string, batch: Span): readonly Span[] {
  const events = memberAt(text, batch.start, 'events')
  return events === undefined ? [] : elementsAt(text, events.start)
}

function memberAt(text: string, start: number, name: string): Span | undefined {
  if (text[start] !== '{') return undefined
  let found: Span | undefined
  let at = skipBlanks(text, start + 1)
  while (text[at] !== '}') {
    const keyEnd = skipString(text, at)
    const key: unknown = JSON.parse(text.slice(at, keyEnd))
    const valueStart = skipBlanks(text, skipBlanks(text, keyEnd) + 1)
    const valueEnd = skipValue(text, valueStart)
    if (key === name) found = { start: valueStart, end: valueEnd }
    at = skipSeparator(text, valueEnd)
  }
  return found
}

function elementsAt(text: string, start: number): Span[] {
  const elements: Span[] = []
  if (text[start] !== '[') return elements
  let at = skipBlanks(text, start + 1)
  while (text[at] !== ']') {
    const end = skipValue(text, at)
    elements.push({ start: at, end })
    at = skipSeparator(text, end)
  }
  return elements
}

function skipSeparator(text: string, at: number): number {
  const next = skipBlanks(text, at)
  return text[next] === ',' ? skipBlanks(text, next + 1) : next
}

const isBlank = (character: string | undefined): boolean =>
  character === ' ' || character === '\n' || character === '\r' || character === '\t'

function skipBlanks(text: string, at: number): number {
  let next = at
  while (isBlank(text[next])) next++
  return next
}

function skipString(text: string, at: number): number {
  let next = at + 1
  while (text[next] !== '"') next += text[next] === '\\' ? 2 : 1
  return next + 1
}

const WORD_END = /[,\]}\s]|$/g

/** The depth is a counter, so no nesting exhausts the stack. */
function skipValue(text: string, start: number): number {
  let depth = 0
  let at = start
  do {
    const character = text[at]
    if (character === '"') at = skipString(text, at)
    else if (character === '{' || character === '[') {
      depth += 1
      at += 1
    } else if (character === '}' || character === ']') {
      depth -= 1
      at += 1
    } else if (depth > 0) at += 1
    else {
      WORD_END.lastIndex = at
      at = WORD_END.exec(text)?.index ?? text.length
    }
  } while (depth > 0)
  return at
}
