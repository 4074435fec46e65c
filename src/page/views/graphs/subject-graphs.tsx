/** Graphs of caches over a range, with its events, compared with an earlier time. The range is in the URL. */
import { useMemo } from 'preact/hooks'
import { Chart } from '../../charts/chart.js'
import { alignSeries } from '../../charts/align-series.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { Time, toIso } from '../../parts/time.js'
import { useAddressField } from '../../shell/address.js'
import { useKey } from '../../shell/keys.js'
import type { Marks } from '../../../resources/mark.js'
import { moveColumns } from './compare-with.js'
import { describeMark, describeOutage, type Happening } from './describe-marks.js'
import { findOutages } from './find-outages.js'
import { formatZoom, moveRange, rangeKeys, readRange, trimRange } from './graph-range.js'
import { columnsOf, graphs, type Graph } from './graphs-shown.js'
import { Happenings } from './happenings.js'
import { ComparePicker, RangePicker } from './range-bar.js'
import { explainNothing, type Subject } from './subject.js'
import { useMarks } from './use-marks.js'
import { trafficGraphs } from './traffic-shown.js'
import { useSeries, type ReadSeries } from './use-series.js'

export function SubjectGraphs({ subject }: { readonly subject: Subject }) {
  const [word, setWord] = useAddressField('range', { isStep: true })
  const [compared, compareWith] = useAddressField('with', { isStep: true })
  const range = readRange(word)
  const read = useSeries(subject, range, compared)
  const marks = useMarks(subject, read.range)
  for (const { key, title } of rangeKeys)
    useKey(key, title, () => {
      const next = moveRange(range, key, Math.floor(Date.now() / 1000))
      if (next !== null) setWord(next)
    })
  return (
    <>
      <div class="row graphs-bar">
        <RangePicker range={range} choose={setWord} />
        <ComparePicker value={compared} marks={marks.marks} choose={compareWith} />
      </div>
      {read.error && <ErrorNote error={read.error} />}
      {!read.range && !read.error && <Loading />}
      {read.range && (
        <Charts
          read={read}
          marks={marks}
          subject={subject}
          isLive={range.isLive}
          onZoom={(from, to) => {
            setWord(formatZoom(from, to))
          }}
        />
      )}
    </>
  )
}

interface ChartsProps {
  readonly read: ReadSeries
  readonly marks: Marks
  readonly subject: Subject
  readonly isLive: boolean
  readonly onZoom: (from: number, to: number) => void
}

function Charts({ read, marks, subject, isLive, onZoom }: ChartsProps) {
  const { series, range, heard } = read
  const happenings = useMemo(
    () => listHappenings(marks, heard),
    // Each read creates new objects.
    [marks, heard],
  )
  const first = useMemo(() => findFirst(read), [series])
  if (first === undefined || !range)
    return (
      <Empty icon="graph" title="No data in this range">
        <p>{explainNothing(subject)}</p>
      </Empty>
    )
  const shown = isLive ? trimRange(range, first) : range
  const shared = { read, range: shown, marks: happenings, onZoom }
  return (
    <>
      {shown !== range && (
        <p class="quiet graphs-since">
          Measured since <Time at={toIso(first)} />
        </p>
      )}
      <Happenings of={happenings} isCut={marks.more} />
      <TrafficCharts {...shared} />
      {subject.kind !== 'domains' && (
        <div class="graphs-charts">
          {graphs.map((graph) => (
            <GraphChart key={graph.title} graph={graph} {...shared} />
          ))}
          {isSeveral(subject) && <MeasuredChart {...shared} />}
        </div>
      )}
    </>
  )
}

/** The number of measured caches is unknown for a group. */
function isSeveral({ kind, ids }: Subject): boolean {
  return kind === 'fleet' || kind === 'tags' || (kind === 'agents' && ids.length > 1)
}

/** Newest first. */
function listHappenings({ marks }: Marks, heard: ReadSeries['heard']): readonly Happening[] {
  return [...marks.map(describeMark), ...findOutages(heard).map(describeOutage)].sort(
    (a, b) => b.at - a.at,
  )
}

function findFirst({ series }: ReadSeries): number | undefined {
  const firsts = series.flatMap(({ values }) => values[0]?.time ?? [])
  return firsts.length === 0 ? undefined : Math.min(...firsts)
}

interface SharedProps {
  readonly read: ReadSeries
  readonly range: NonNullable<ReadSeries['range']>
  readonly marks: readonly Happening[]
  readonly onZoom: ChartsProps['onZoom']
}

function GraphChart({ graph, read, ...rest }: SharedProps & { readonly graph: Graph }) {
  const { series, before } = read
  const columns = useMemo(() => columnsOf(graph, series), [graph, series])
  const earlier = useMemo(
    () =>
      before && {
        title: before.title,
        columns: moveColumns(columnsOf(graph, before.series), before.offset),
      },
    [graph, before],
  )
  return (
    <Chart
      title={graph.title}
      unit={graph.unit}
      columns={columns}
      before={earlier}
      labels={graph.lines.map(({ label }) => label)}
      isStacked={graph.isStacked ?? false}
      together="graphs"
      {...rest}
    />
  )
}

/** Charts of the requests of a group or domain, from the logs of its caches; empty if no log was read. */
function TrafficCharts(shared: SharedProps) {
  const known = new Set(shared.read.series.map(({ counter }) => counter))
  const shown = trafficGraphs.filter(({ lines }) =>
    lines.some(({ of }) => of.some((name) => known.has(name))),
  )
  if (shown.length === 0) return null
  return (
    <div class="graphs-charts">
      {shown.map((graph) => (
        <GraphChart key={graph.title} graph={graph} {...shared} />
      ))}
    </div>
  )
}

const reportingLabels = ['Caches']

function MeasuredChart({ read, ...rest }: SharedProps) {
  const columns = useMemo(() => alignSeries([read.heard]), [read.heard])
  return (
    <Chart
      title="Caches measured"
      unit="count"
      columns={columns}
      labels={reportingLabels}
      together="graphs"
      {...rest}
    />
  )
}
