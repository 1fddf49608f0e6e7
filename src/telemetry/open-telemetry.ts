// Sends spans to a collector by OTLP over HTTP. This is the only file that names the SDK, and it is loaded only where an
// endpoint is set. A collector that does not answer costs spans, and nothing else.

import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Context, context, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-node'
import { messageOf } from '../core/errors.js'
import { type Contexts, createSpans } from './spans.js'
import type { Attributes, Tracing } from './tracing.js'

export type ExportDeps = {
  /** Where spans are posted to. */
  readonly url: string
  readonly service_name: string
  readonly attributes: Attributes
  /** For a worker: spans that its user's code makes by the API of OpenTelemetry are sent, too. */
  readonly is_shared: boolean
  readonly log: (message: string) => void
}

/** Of one request, with its repeats; and a process that is asked to end waits no longer, because repeats would hold it. */
const EXPORT_MS_MAX = 3_000

export function startExport({ url, service_name, attributes, is_shared, log }: ExportDeps): Tracing {
  const provider = new NodeTracerProvider({
    // What the operator says by OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES comes last, and stands.
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': service_name, ...attributes }))
      .merge(detectResources({ detectors: [envDetector] })),
    // Bounded: what does not fit its queue is dropped.
    spanProcessors: [new BatchSpanProcessor(withLog(new OTLPTraceExporter({ url, timeoutMillis: EXPORT_MS_MAX }), url, log))],
  })
  if (is_shared) provider.register()
  const spans = createSpans(provider.getTracer('servo'), is_shared ? context : ownContexts())
  return {
    ...spans,
    async close() {
      await Promise.race([provider.shutdown().catch(() => undefined), sleep(EXPORT_MS_MAX, undefined, { ref: false })])
      if (!is_shared) return
      trace.disable()
      context.disable()
    },
  }
}

function ownContexts(): Contexts {
  const storage = new AsyncLocalStorage<Context>()
  return { active: () => storage.getStore() ?? ROOT_CONTEXT, with: (inside, work) => storage.run(inside, work) }
}

/** SUCCESS of an export, as the SDK has it. */
const SENT = 0

/** Said once for every time that it goes away. */
function withLog(exporter: SpanExporter, url: string, log: (message: string) => void): SpanExporter {
  let isFailing = false
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.code !== SENT && !isFailing) {
          const why = result.error === undefined ? 'it did not say why' : messageOf(result.error)
          log(`Spans cannot be sent to ${url} now, and are dropped until it answers; everything else goes on: ${why}`)
        } else if (result.code === SENT && isFailing) log(`Spans are sent to ${url} again.`)
        isFailing = result.code !== SENT
        // The SDK would tell its own log of every one.
        done({ code: SENT })
      })
    },
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush === undefined ? {} : { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
  }
}
