// Tracing by the API of OpenTelemetry, over whatever tracer there is: that of this process, or one that a user's module has
// registered in a worker.

import {
  type Span as ApiSpan,
  type Context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { readTraceparent } from '../core/traceparent.js'
import type { Span, SpanStart, Tracing } from './tracing.js'

/** The context that code runs in: of this process alone, or the one that all users of the API share. */
export type Contexts = {
  readonly active: () => Context
  readonly with: <T>(context: Context, work: () => T) => T
}

const KINDS = { server: SpanKind.SERVER, producer: SpanKind.PRODUCER, consumer: SpanKind.CONSUMER }

export function createSpans(tracer: Tracer, contexts: Contexts): Omit<Tracing, 'close'> {
  const spanOf = (span: ApiSpan, below: Context): Span => {
    const inside = trace.setSpan(below, span)
    return {
      traceparent: traceparentOf(span.spanContext()),
      within: (work) => contexts.with(inside, work),
      add: (attributes) => void span.setAttributes(attributes),
      end({ fault, at } = {}) {
        if (fault !== undefined) {
          span.setAttribute('error.type', fault)
          span.setStatus({ code: SpanStatusCode.ERROR })
        }
        span.end(at)
      },
    }
  }
  return {
    start(name, start = {}) {
      const below = contextOf(start, contexts)
      return spanOf(tracer.startSpan(name, optionsOf(start), below), below)
    },
    traceparent: () => traceparentOf(trace.getSpanContext(contexts.active())),
  }
}

const optionsOf = ({ kind, attributes = {}, links = [], at }: SpanStart) => ({
  attributes,
  links: links.flatMap((link) => {
    const context = spanContextOf(link)
    return context === undefined ? [] : [{ context }]
  }),
  ...(kind === undefined ? {} : { kind: KINDS[kind] }),
  ...(at === undefined ? {} : { startTime: at }),
})

function contextOf({ parent, is_root }: SpanStart, contexts: Contexts): Context {
  if (is_root === true) return ROOT_CONTEXT
  const remote = spanContextOf(parent)
  return remote === undefined ? contexts.active() : trace.setSpanContext(ROOT_CONTEXT, remote)
}

/** undefined: it is not sampled, or nothing at all. */
function traceparentOf(context: SpanContext | undefined): string | undefined {
  if (context === undefined || !isSpanContextValid(context) || (context.traceFlags & TraceFlags.SAMPLED) === 0) return undefined
  return `00-${context.traceId}-${context.spanId}-01`
}

function spanContextOf(traceparent: string | undefined): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] = readTraceparent(traceparent)?.split('-') ?? []
  if (traceId === '') return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true }
}
