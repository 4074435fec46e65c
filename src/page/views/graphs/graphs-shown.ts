/** The graphs and the counters of each. Pure functions. */
import { alignSeries, type Columns, type Point } from '../../charts/align-series.js'
import type { Unit } from '../../charts/format-value.js'

interface Line {
  readonly label: string
  /** The sum of these counters. */
  readonly of: readonly string[]
  /** Divided by the sum of these. */
  readonly by?: readonly string[]
}

export interface Graph {
  readonly title: string
  readonly unit: Unit
  readonly lines: readonly Line[]
  /** The lines are parts of a whole. */
  readonly isStacked?: boolean
}

/** As returned by `/stats/{consolfunc}/…`. */
export interface CounterSeries {
  readonly counter: string
  readonly values: readonly Point[]
}

const one = (label: string, ...of: readonly string[]): Line => ({ label, of })
const hits = 'MAIN.cache_hit'

/** The API's graphs; a graph with two units becomes two. */
export const graphs: readonly Graph[] = [
  {
    title: 'Hit ratio',
    unit: 'share',
    lines: [{ label: 'Hits of lookups', of: [hits], by: [hits, 'MAIN.cache_miss'] }],
  },
  {
    title: 'Requests',
    unit: 'rate',
    lines: [one('Requests', 'MAIN.client_req'), one('Connections', 'MAIN.sess_conn')],
  },
  {
    title: 'Answers',
    unit: 'rate',
    isStacked: true,
    lines: [
      one('Hits', hits),
      one('Misses', 'MAIN.cache_miss'),
      one('Passes', 'MAIN.s_pass'),
      one('Pipes', 'MAIN.s_pipe'),
      one('Synthetic', 'MAIN.s_synth'),
    ],
  },
  {
    title: 'Traffic',
    unit: 'bytes per second',
    lines: [one('Bodies', 'MAIN.s_resp_bodybytes'), one('Headers', 'MAIN.s_resp_hdrbytes')],
  },
  {
    title: 'Backend errors',
    unit: 'rate',
    lines: [
      one('Failed connections', 'MAIN.backend_fail'),
      one('Failed fetches', 'MAIN.fetch_failed'),
      one('Backend sick', 'MAIN.backend_unhealthy'),
      one('Backend busy', 'MAIN.backend_busy'),
    ],
  },
  {
    title: 'Backend requests',
    unit: 'rate',
    lines: [
      one('Requests', 'MAIN.backend_req'),
      one('New connections', 'MAIN.backend_conn'),
      one('Reused connections', 'MAIN.backend_reuse'),
    ],
  },
  {
    title: 'Threads',
    unit: 'count',
    lines: [one('Threads', 'MAIN.threads'), one('Requests waiting', 'MAIN.thread_queue_len')],
  },
  {
    title: 'Storage',
    unit: 'bytes',
    lines: [
      one('Used', 'SMA.s0.g_bytes', 'SMF.s0.g_bytes'),
      one('Free', 'SMA.s0.g_space', 'SMF.s0.g_space'),
      one('Short-lived', 'SMA.Transient.g_bytes'),
    ],
  },
  { title: 'Objects', unit: 'count', lines: [one('Objects', 'MAIN.n_object')] },
]

/** The counters read from the API for all graphs. */
export const countersRead: readonly string[] = [
  ...new Set(graphs.flatMap(({ lines }) => lines.flatMap(({ of, by = [] }) => [...of, ...by]))),
]

/** A sum covers the counters known at that time; a share of zero is unknown. */
export function columnsOf({ lines }: Graph, series: readonly CounterSeries[]): Columns {
  const points = new Map(series.map(({ counter, values }) => [counter, values]))
  const sum = (names: readonly string[]): ReadonlyMap<number, number> => {
    const sums = new Map<number, number>()
    for (const name of names)
      for (const { time, value } of points.get(name) ?? [])
        sums.set(time, (sums.get(time) ?? 0) + value)
    return sums
  }
  return alignSeries(
    lines.map(({ of, by }) => {
      const over = by && sum(by)
      return [...sum(of)].flatMap(([time, value]) => {
        if (!over) return [{ time, value }]
        const all = over.get(time) ?? 0
        return all > 0 ? [{ time, value: value / all }] : []
      })
    }),
  )
}
