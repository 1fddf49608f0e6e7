// JSON from outside, where text that is none is an answer like any other.

/** undefined: it is no JSON, which no JSON is either. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
