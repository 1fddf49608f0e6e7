// What Prometheus would say: the simple rules of temporal/grafana/alerts.yml, evaluated over what the APIs serve. A rule fires once
// its query has held at every scrape for as long as it says; a scrape that nothing answers begins that time again.

import { readFileSync } from 'node:fs'
// Between two scrapes.
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { samplesIn } from '../fixtures/metrics-text.js'

export type AlertRule = {
  readonly name: string
  readonly over: 'max' | 'min'
  readonly metric: string
  readonly compare: '>' | '=='
  readonly than: number
  readonly for_ms: number
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 }
const RULE = /- alert: (\w+)\n +expr: (max|min)\((servo_\w+)\) (>|==) ([\d.]+)\n +for: (\d+)([smh])\n/g

/** Rules of one metric and one comparison; a rule over rates needs more than this. */
export function simpleRulesIn(text: string): readonly AlertRule[] {
  return [...text.matchAll(RULE)].map(([, name = '', over, metric = '', compare, than, time, unit = 's']) => ({
    name,
    over: over as AlertRule['over'],
    metric,
    compare: compare as AlertRule['compare'],
    than: Number(than),
    for_ms: Number(time) * (UNITS_MS[unit] ?? 0),
  }))
}

export type Alerts = {
  /** `samples` of each process that answered. */
  readonly scraped: (at_ms: number, samples: readonly ReadonlyMap<string, number>[]) => void
  readonly fired: () => readonly string[]
}

export function createAlerts(rules: readonly AlertRule[]): Alerts {
  const since = new Map<string, number>()
  const fired = new Set<string>()
  return {
    scraped(at_ms, samples) {
      for (const rule of rules) {
        if (!holds(rule, samples)) {
          since.delete(rule.name)
          continue
        }
        const began = since.get(rule.name) ?? at_ms
        since.set(rule.name, began)
        if (at_ms - began >= rule.for_ms) fired.add(rule.name)
      }
    },
    fired: () => [...fired].sort(),
  }
}

function holds({ over, metric, compare, than }: AlertRule, samples: readonly ReadonlyMap<string, number>[]): boolean {
  const values = samples.flatMap((sample) => sample.get(metric) ?? []).filter((value) => !Number.isNaN(value))
  if (values.length === 0) return false
  const value = over === 'max' ? Math.max(...values) : Math.min(...values)
  return compare === '>' ? value > than : value === than
}

const SCRAPE_EVERY_MS = 5_000
const RULES = fileURLToPath(new URL('../../temporal/grafana/alerts.yml', import.meta.url))

/** Until it is stopped, which answers the names of the rules that fired. */
export function watchAlerts(
  urls: readonly string[],
  metricsAt: (url: string) => Promise<string>,
): { readonly stop: () => readonly string[] } {
  const alerts = createAlerts(simpleRulesIn(readFileSync(RULES, 'utf8')))
  const stopping = new AbortController()
  const scrape = async (url: string) => samplesIn(await metricsAt(url))
  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      // A process that is killed or stopped answers nothing, as it would answer Prometheus nothing.
      const samples = await Promise.all(urls.map((url) => scrape(url).catch(() => new Map<string, number>())))
      alerts.scraped(performance.now(), samples)
      await sleep(SCRAPE_EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  void watch()
  return {
    stop() {
      stopping.abort()
      return alerts.fired()
    },
  }
}
