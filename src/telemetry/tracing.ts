// What the parts of Servo need of a tracer. Who is given none does nothing and pays nothing: what stands behind it is loaded
// only where somebody named an endpoint (telemetry/open-telemetry.ts). Spans name ids, counts and outcomes: no partitions, no
// tokens, nothing that a person wrote.

export type Attributes = Readonly<Record<string, string | number | boolean>>

export type Span = {
  /** For whoever goes on with it elsewhere. undefined: it is not kept, and nothing below it is worth keeping. */
  readonly traceparent: string | undefined
  /** What is called in it, and what comes of that, is below this span. */
  readonly within: <T>(work: () => T) => T
  readonly add: (attributes: Attributes) => void
  /** `fault`: the kind of an error, and nothing of what it says. */
  readonly end: (end?: { readonly fault?: string; readonly at?: number }) => void
}

export type SpanStart = {
  readonly kind?: 'server' | 'producer' | 'consumer'
  /** A traceparent that came from elsewhere. Left out: below the span that this is called in. */
  readonly parent?: string | undefined
  /** In a trace of its own, whatever this is called in. */
  readonly is_root?: boolean
  readonly attributes?: Attributes
  /** Traceparents of spans that this one has to do with, and is not below. */
  readonly links?: readonly string[]
  /** Epoch milliseconds by this machine's clock, where it began before it is told of. */
  readonly at?: number
}

export type Tracing = {
  readonly start: (name: string, start?: SpanStart) => Span
  /** Of the span that this is called in. */
  readonly traceparent: () => string | undefined
  /** Sends what is left, and waits no longer than a moment for it. */
  readonly close: () => Promise<void>
}

/** Below the span that this is called in; where there is none, or no tracing, the work alone is done. */
export async function inSpan<T>(
  tracing: Tracing | undefined,
  name: string,
  attributes: Attributes,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  if (tracing?.traceparent() === undefined) return work(undefined)
  return within(tracing.start(name, { attributes }), work)
}

/** The work is the span's: it ends with it. */
export async function within<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    const answer = await span.within(() => work(span))
    span.end()
    return answer
  } catch (fault) {
    span.end({ fault: fault instanceof Error ? fault.name : typeof fault })
    throw fault
  }
}
