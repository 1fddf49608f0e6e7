// Where in a trace something belongs, as W3C writes it: 00-{trace id}-{span id}-{flags}. It travels in headers, in events and
// in one column; it informs who watches, and nothing is decided, keyed or refused by it.

const FORM = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** undefined: there is none, or none that can be read. */
export const readTraceparent = (given: unknown): string | undefined => (typeof given === 'string' && FORM.test(given) ? given : undefined)

export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35)
