/** Charts of the group's request figures that gates judge: the ten minutes before a rollout and its duration. */
import { useMemo } from 'preact/hooks'
import { isEnded, type Rollout } from '../../../../resources/rollout.js'
import { useAnswer } from '../../../api/answer.js'
import { Chart } from '../../../charts/chart.js'
import { columnsOf, type CounterSeries } from '../../graphs/graphs-shown.js'
import { readTraffic } from '../../graphs/use-series.js'
import { findTime, graphsOfGates, markWaves, trafficOfGates } from './chart-rollout.js'

/** The archive adds rows no more often than this. */
const rereadMs = 10_000
const nothing: readonly CounterSeries[] = []

export function RolloutCharts({ rollout }: { readonly rollout: Rollout }) {
  const series = useTraffic(rollout)
  const marks = useMemo(() => markWaves(rollout), [JSON.stringify(rollout.waves)])
  const known = new Set(series.map(({ counter }) => counter))
  const shown = graphsOfGates.filter(({ lines }) =>
    lines.some(({ of }) => of.some((name) => known.has(name))),
  )
  if (shown.length === 0)
    return <p class="quiet">No figures of its requests: the log of its caches is not read.</p>
  const range = findTime(rollout, Date.now())
  return (
    <div class="graphs-charts">
      {shown.map((graph) => (
        <Chart
          key={graph.title}
          title={graph.title}
          unit={graph.unit}
          labels={graph.lines.map(({ label }) => label)}
          columns={columnsOf(graph, series)}
          range={range}
          marks={marks}
          together="rollout"
        />
      ))}
    </div>
  )
}

function useTraffic(rollout: Rollout): readonly CounterSeries[] {
  const { id, vclGroup, state } = rollout
  const subject = { kind: 'vclgroups', ids: [vclGroup.id] } as const
  const ask = async (signal: AbortSignal, before: readonly CounterSeries[]) => {
    const range = findTime(rollout, Date.now())
    const read = await readTraffic(subject, range, signal, trafficOfGates)
    return read.length === 0 ? before : read
  }
  const repeatMs = isEnded(state) ? undefined : rereadMs
  return useAnswer(`${id} ${state}`, nothing, ask, { repeatMs })
}
