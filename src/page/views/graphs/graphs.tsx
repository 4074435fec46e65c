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
import { readRange, sayZoom, spans } from './graph-range.js'
import { columnsOf, graphs, type Graph } from './graphs-shown.js'
import { SubjectPicker, useSubjects } from './subject-picker.js'
import { useSeries, type ReadSeries } from './use-series.js'

export function View() {
  const subjects = useSubjects()
  const [word, setWord] = useAddressField('range')
  const range = readRange(word)
  const read = useSeries(subjects.chosen?.path ?? null, range)
  const zoom = (from: number, to: number): void => {
    setWord(sayZoom(from, to))
  }
  return (
    <>
      <ViewHead title="Graphs" />
      {subjects.error && <ErrorNote error={subjects.error} />}
      {subjects.isReady && !subjects.error && !subjects.chosen && (
        <Empty icon="graph" title="No caches yet">
          <p>Graphs appear as soon as an agent sends what its cache counts.</p>
        </Empty>
      )}
      {subjects.chosen && (
        <div class="row graphs-bar">
          <SubjectPicker {...subjects} />
          <Choices
            label="Range"
            choices={spans}
            value={range.isLive ? range.span.value : ''}
            onChoose={setWord}
          />
          {range.isLive ? (
            <span class="graphs-live">Live</span>
          ) : (
            <Button
              icon="refresh"
              onClick={() => {
                setWord('')
              }}
            >
              Back to live
            </Button>
          )}
        </div>
      )}
      {read.error && <ErrorNote error={read.error} />}
      {(!subjects.isReady || (subjects.chosen && !read.range && !read.error)) && <Loading />}
      {subjects.chosen && read.range && (
        <Charts read={read} why={subjects.chosen.why} onZoom={zoom} />
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
      <Empty icon="graph" title="Nothing was measured in this range">
        <p>{why}</p>
      </Empty>
    )
  return (
    <div class="graphs-charts">
      {graphs.map((graph) => (
        <GraphChart key={graph.title} {...{ graph, series, range, onZoom }} />
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
      {...{ title: graph.title, unit: graph.unit, columns, range, onZoom }}
      labels={graph.lines.map(({ label }) => label)}
      together="graphs"
    />
  )
}
