/** The graphs of the requests of a group or domain, as the API names and returns them. Pure functions. */
import type { CounterSeries, Graph } from './graphs-shown.js'

/** Names for `/graph/{name}/…`; each is a separate call. */
export const trafficRead = ['status', 'hitratio', 'firstbyte', 'bytes'] as const

/** The usual class comes first and gets the calmest colour; errors get the warmest. */
const classes = [2, 1, 3, 4, 5].map((digit) => `${digit}xx`)

export const trafficGraphs: readonly Graph[] = [
  {
    title: 'Answers by status',
    unit: 'rate',
    isStacked: true,
    lines: classes.map((label) => ({ label, of: [`status_${label}`] })),
  },
  {
    title: 'Time to first byte',
    unit: 'milliseconds',
    lines: [
      { label: 'Half within', of: ['p50'] },
      { label: '95 % within', of: ['p95'] },
      { label: '99 % within', of: ['p99'] },
    ],
  },
  {
    title: 'Hit ratio of its requests',
    unit: 'share',
    lines: [{ label: 'Hits of lookups', of: ['hitRatio'] }],
  },
  {
    title: 'Traffic of its requests',
    unit: 'bytes per second',
    lines: [{ label: 'Bytes', of: ['bytes'] }],
  },
]

/** As returned by `/graph/{name}/…`: each row has a time and its members by key. */
export type GraphRows = readonly Readonly<Record<string, number>>[]

/** Returns one series for each member that occurs in a row. */
export function toSeries(rows: GraphRows): readonly CounterSeries[] {
  const points = new Map<string, { time: number; value: number }[]>()
  for (const { time = 0, ...members } of rows)
    for (const [counter, value] of Object.entries(members)) {
      const known = points.get(counter)
      if (known) known.push({ time, value })
      else points.set(counter, [{ time, value }])
    }
  return [...points].map(([counter, values]) => ({ counter, values }))
}
