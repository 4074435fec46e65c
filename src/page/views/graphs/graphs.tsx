/** What caches did: hit ratio, traffic, backends, threads and storage of one cache or of a group, from minutes to months. */
import { useMemo } from 'preact/hooks'
import { Chart } from '../../charts/chart.js'
import { Button } from '../../parts/button.js'
import { Choices } from '../../parts/choices.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { ViewHead } from '../../parts/view-head.js'
import { useAddressField } from '../../shell/address.js'
import { useKey } from '../../shell/keys.js'
import {
  moveRange,
  rangeKeys,
  readRange,
  formatZoom,
  spans,
  type GraphRange,
} from './graph-range.js'
import { columnsOf, graphs, type Graph } from './graphs-shown.js'
import type { Subject } from './list-subjects.js'
import { SubjectPicker, useSubjects, type Subjects } from './subject-picker.js'
import { useSeries, type ReadSeries } from './use-series.js'

export function View() {
  const subjects = useSubjects()
  const { chosen, isReady, error } = subjects
  return (
    <>
      <ViewHead title="Graphs" />
      {error && <ErrorNote error={error} />}
      {!isReady && !chosen && <Loading />}
      {isReady && !error && !chosen && <NoSubjects />}
      {chosen && <SubjectGraphs subjects={subjects} chosen={chosen} />}
    </>
  )
}

interface SubjectGraphsProps {
  readonly subjects: Subjects
  readonly chosen: Subject
}

function SubjectGraphs({ subjects, chosen }: SubjectGraphsProps) {
  const [word, setWord] = useAddressField('range')
  const range = readRange(word)
  const read = useSeries(chosen.path, range)
  for (const { key, title } of rangeKeys)
    useKey(key, title, () => {
      const next = moveRange(range, key, Math.floor(Date.now() / 1000))
      if (next !== null) setWord(next)
    })
  return (
    <>
      <div class="row graphs-bar">
        <SubjectPicker {...subjects} />
        <RangePicker range={range} choose={setWord} />
      </div>
      {read.error && <ErrorNote error={read.error} />}
      {!read.range && !read.error && <Loading />}
      {read.range && (
        <Charts
          read={read}
          why={chosen.why}
          onZoom={(from, to) => {
            setWord(formatZoom(from, to))
          }}
        />
      )}
    </>
  )
}

function NoSubjects() {
  return (
    <Empty icon="graph" title="No caches yet">
      <p>Graphs appear once an agent sends the counters of its cache.</p>
    </Empty>
  )
}

interface RangePickerProps {
  readonly range: GraphRange
  readonly choose: (word: string) => void
}

function RangePicker({ range, choose }: RangePickerProps) {
  return (
    <>
      <Choices
        label="Range"
        choices={spans}
        value={range.isLive ? range.span.value : ''}
        onChoose={choose}
      />
      {range.isLive ? (
        <span class="graphs-live">Live</span>
      ) : (
        <Button
          icon="refresh"
          onClick={() => {
            choose('')
          }}
        >
          Back to live
        </Button>
      )}
    </>
  )
}

interface ChartsProps {
  readonly read: ReadSeries
  /** There may be nothing to show. */
  readonly why: string
  readonly onZoom: (from: number, to: number) => void
}

function Charts({ read: { series, range }, why, onZoom }: ChartsProps) {
  const isEmpty = series.every(({ values }) => values.length === 0)
  if (isEmpty || !range)
    return (
      <Empty icon="graph" title="No data in this range">
        <p>{why}</p>
      </Empty>
    )
  return (
    <div class="graphs-charts">
      {graphs.map((graph) => (
        <GraphChart key={graph.title} graph={graph} series={series} range={range} onZoom={onZoom} />
      ))}
    </div>
  )
}

interface GraphChartProps extends Pick<ReadSeries, 'series'> {
  readonly graph: Graph
  readonly range: NonNullable<ReadSeries['range']>
  readonly onZoom: ChartsProps['onZoom']
}

function GraphChart({ graph, series, range, onZoom }: GraphChartProps) {
  const columns = useMemo(() => columnsOf(graph, series), [graph, series])
  return (
    <Chart
      title={graph.title}
      unit={graph.unit}
      columns={columns}
      range={range}
      onZoom={onZoom}
      labels={graph.lines.map(({ label }) => label)}
      together="graphs"
    />
  )
}
