/** Chooses the graphs of a group's requests, the time range and the marks drawn beside its gates. Pure functions. */
import type { Rollout } from '../../../../resources/rollout.js'
import type { ChartMark } from '../../../charts/chart-mark.js'
import type { Graph } from '../../graphs/graphs-shown.js'

/** Names for `/graph/{name}/…`: the data of `graphsOfGates`. */
export const trafficOfGates = ['status', 'hitratio', 'firstbyte'] as const

export const graphsOfGates: readonly Graph[] = [
  {
    title: 'Errors (5xx)',
    unit: 'rate',
    lines: [{ label: 'Answers', of: ['status_5xx'] }],
  },
  {
    title: 'Hit ratio',
    unit: 'share',
    lines: [{ label: 'Hits of lookups', of: ['hitRatio'] }],
  },
  {
    title: 'Time to first byte',
    unit: 'milliseconds',
    lines: [
      { label: 'Half within', of: ['p50'] },
      { label: '95 % within', of: ['p95'] },
    ],
  },
]

/** Seconds before the start, as the gates compare them. */
const beforeSeconds = 600

/** Seconds since 1970. */
export function findTime({ startedAt, endedAt }: Rollout, nowMs: number) {
  const began = Math.floor(Date.parse(startedAt) / 1000)
  const ended = Math.floor((endedAt === null ? nowMs : Date.parse(endedAt)) / 1000)
  return { from: began - beforeSeconds, to: Math.max(ended, began + 1) }
}

/** Marks the start of each wave, and the rollback. */
export function markWaves({ waves, endedAt, stateName }: Rollout): readonly ChartMark[] {
  const begun = waves.flatMap(({ startedAt }, at): ChartMark[] =>
    startedAt === null
      ? []
      : [{ at: Date.parse(startedAt) / 1000, tone: 'change', text: `Wave ${at + 1}` }],
  )
  const isBack = stateName === 'RolledBack' || stateName === 'Aborted'
  if (!isBack || endedAt === null) return begun
  return [...begun, { at: Date.parse(endedAt) / 1000, tone: 'outage', text: 'All are back' }]
}
