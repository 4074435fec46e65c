/**
 * A cache's counters in Prometheus' text format 0.0.4. Names and labels do not change with deploys: a backend has no
 * VCL.
 */
import { nameOfEach } from './counter-selection.js'
import type { CounterTotals } from './counter-totals.js'
import { defaultCounters, kindOfCounter } from '../../resources/counters.js'

export const expositionType = 'text/plain; version=0.0.4; charset=utf-8'

interface Metric {
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge'
  readonly samples: string[]
}

const descriptions = new Map(defaultCounters.map(({ name, description }) => [name, description]))

/** The label for the middle part of a name, by its first part. */
const labelNames: Readonly<Record<string, string>> = {
  VBE: 'backend',
  SMA: 'storage',
  SMF: 'storage',
  SMU: 'storage',
}

/** `totals` null: the cache cannot be read. */
export function exposeCounters(totals: CounterTotals['totals'] | null): string {
  const up: Metric = {
    name: 'cachefleet_cache_up',
    help: 'whether the counters of the cache could be read',
    kind: 'gauge',
    samples: [`cachefleet_cache_up ${totals === null ? 0 : 1}`],
  }
  const metrics = new Map([[up.name, up]])
  for (const [series, value] of totals ?? []) {
    const { name, labels } = nameMetric(series)
    const kind = kindOfCounter(series)
    const help = descriptions.get(series) ?? `${nameOfEach(series)} of the cache`
    const metric = metrics.get(name) ?? { name, help, kind, samples: [] }
    metric.samples.push(`${name}${labels} ${value}`)
    metrics.set(name, metric)
  }
  return [...metrics.values()].map(printMetric).join('')
}

function nameMetric(series: string): { readonly name: string; readonly labels: string } {
  const first = series.indexOf('.')
  const last = series.lastIndexOf('.')
  const [group, ident, field] = [
    series.slice(0, first),
    series.slice(first + 1, Math.max(first + 1, last)),
    series.slice(last + 1),
  ]
  const ending = kindOfCounter(series) === 'counter' ? '_total' : ''
  const name = `cachefleet_cache_${group.toLowerCase()}_${field}${ending}`
  const label = labelNames[group] ?? 'name'
  return { name, labels: ident === '' ? '' : `{${label}="${escapeLabel(ident)}"}` }
}

function escapeLabel(text: string): string {
  return text.replaceAll(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')
}

function printMetric({ name, help, kind, samples }: Metric): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${samples.join('\n')}\n`
}
