// What the processes serve, read from the text that Prometheus would read; and what queries ask for.

import { TALLIED } from '../../src/turn/watch.js'
import { createWorkerMetrics } from '../../src/sdk/worker/metrics.js'
import { createApiMetrics } from '../../src/telemetry/api-metrics.js'
import { createAutomationMetrics } from '../../src/telemetry/automation-metrics.js'

export type Served = ReadonlyMap<string, ServedMetric>
export type ServedMetric = { readonly kind: string; readonly help: string; readonly labels: ReadonlySet<string> }

/** Of all kinds of processes together, from the registries that they really have. */
export async function servedByAll(): Promise<Served> {
  const api = createApiMetrics(async () => ({ sequence: 1, lag_ms: 0, turn_overdue_ms: 0, unfolded_segments: 0, unfolded_events: 0 }))
  // Routes are not known ahead: its labels are there with the first request.
  api.request('/healthz', 'GET', 200, 1)
  const automation = createAutomationMetrics(TALLIED)
  const worker = createWorkerMetrics('0.1.0').text({ slots: 1, running: 0, waiting: 0 })
  return new Map([...servedIn(await api.text()), ...servedIn(await automation.text()), ...servedIn(worker)])
}

/** Without Node's own, which have a prefix. */
export function servedIn(text: string): Served {
  const served = new Map<string, { kind: string; help: string; labels: Set<string> }>()
  for (const [, name = '', help = ''] of text.matchAll(/^# HELP (servo_\S+) (.+)$/gm))
    served.set(name, { kind: '', help, labels: new Set() })
  for (const [, name = '', kind = ''] of text.matchAll(/^# TYPE (servo_\S+) (\w+)$/gm)) {
    const metric = served.get(name)
    if (metric !== undefined) metric.kind = kind
  }
  for (const [, name = '', labels = ''] of text.matchAll(/^(servo_\w+)(?:\{(.*)\})? \S+$/gm)) {
    const metric = served.get(baseName(name, served))
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) if (label !== 'le') metric?.labels.add(label)
  }
  for (const name of served.keys()) if (name.startsWith('servo_process_')) served.delete(name)
  return served
}

/** Prometheus's own, of each process that it scrapes. */
const UP: ServedMetric = { kind: 'gauge', help: '', labels: new Set(['job', 'instance']) }

/** A histogram is served as three series. */
function baseName(name: string, served: Served): string {
  const base = name.replace(/_(bucket|sum|count)$/, '')
  return served.get(base)?.kind === 'histogram' ? base : name
}

/** What is wrong with a query: a metric that nobody serves, or a label that it has not. */
export function queryFaults(query: string, served: Served): string[] {
  const used = [...query.matchAll(/\b(servo_\w+|up)\b(?:\{([^}]*)\})?/g)].map(([, name = '', matchers = '']) => ({ name, matchers }))
  if (used.length === 0) return [`${query} names no metric.`]
  const known = new Set<string>()
  const faults = used.flatMap(({ name, matchers }) => {
    const metric = name === 'up' ? UP : served.get(baseName(name, served))
    if (metric === undefined) return [`${name} is served by nobody.`]
    if (metric.kind === 'histogram' && baseName(name, served) === name)
      return [`${name} is a histogram: ask for its _bucket, _sum or _count.`]
    for (const label of metric.labels) known.add(label)
    if (name.endsWith('_bucket')) known.add('le')
    const labels = [...matchers.matchAll(/(\w+)\s*[=!]~?/g)].map(([, label = '']) => label)
    return labels.filter((label) => !metric.labels.has(label)).map((label) => `${name} has no label ${label}.`)
  })
  const grouped = [...query.matchAll(/\b(?:by|without)\s*\(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/\s*,\s*/).filter(Boolean))
  return [
    ...faults,
    ...grouped.filter((label) => !known.has(label)).map((label) => `${query} groups by ${label}, which no metric in it has.`),
  ]
}
