/**
 * A line chart over time: the legend shows the values at the pointer, dragging zooms, and a table holds the same values. Charts
 * with the same `together` share the pointer position.
 */
import { useSignal } from '@preact/signals'
import { useEffect, useId, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { theme } from '../shell/theme.js'
import type { Columns } from './align-series.js'
import { lastKnown, layOut, valueNear, type ChartData } from './chart-data.js'
import type { ChartMark } from './chart-mark.js'
import { ChartTable } from './chart-table.js'
import { formatMoment } from './format-tick.js'
import { drawPlot, type Plot, type Pointed } from './plot.js'
import { formatValue, type Unit } from './format-value.js'

export interface ChartProps {
  readonly title: string
  readonly unit: Unit
  /** At most six, the number of colours. */
  readonly labels: readonly string[]
  /** One column per label. */
  readonly columns: Columns
  /** Seconds since 1970. */
  readonly range: { readonly from: number; readonly to: number }
  /** The lines are parts of a whole: each is stacked on those before it. */
  readonly isStacked?: boolean
  /** The same values of an earlier period, shifted to this one; null: no comparison. */
  readonly before?: Before | null
  readonly marks?: readonly ChartMark[]
  readonly onZoom?: (from: number, to: number) => void
  readonly together?: string
}

interface Before {
  /** For example "an hour ago". */
  readonly title: string
  readonly columns: Columns
}

/** The props of a drawn chart with its computed data. */
export interface DrawnChart extends ChartProps {
  readonly data: ChartData
}

export function Chart(props: ChartProps) {
  const { title, unit, labels, columns, range, before, isStacked, marks } = props
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<Plot | null>(null)
  /** Null: the pointer is outside. */
  const pointed = useSignal<Pointed | null>(null)
  const id = useId()
  const data = useMemo(
    () => layOut({ columns, before: before?.columns, isStacked }),
    [columns, before, isStacked],
  )
  // Callbacks of the plot always use the props of the last render.
  const newest = useRef<DrawnChart>({ ...props, data })
  newest.current = { ...props, data }

  // In a layout effect, before the paint, so that a visible chart can be dragged at once.
  useLayoutEffect(() => {
    if (!place.current) return
    const drawn = drawPlot(place.current, newest, (at) => {
      const was = pointed.peek()
      if (at?.row !== was?.row || at?.mark !== was?.mark) pointed.value = at
    })
    plot.current = drawn
    return () => {
      plot.current = null
      drawn.stop()
    }
  }, [labels.join('\n'), unit, data.before.length])
  useLayoutEffect(() => {
    plot.current?.show(data)
  }, [data, marks, range.from, range.to])
  const chosen = theme.value
  useEffect(() => {
    requestAnimationFrame(() => plot.current?.recolour())
  }, [chosen])

  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption class="chart-head">
        <h2 id={id}>{title}</h2>
        <span class="chart-moment">{formatPointed(pointed.value, data, range)}</span>
      </figcaption>
      <div class="chart-frame">
        <div class="chart-plot" ref={place} role="img" aria-label={`${title}, as lines`} />
        {columns.times.length === 0 && <p class="chart-nothing">Nothing of this in this range</p>}
      </div>
      <Legend
        labels={labels}
        unit={unit}
        data={data}
        isStacked={isStacked}
        row={pointed.value?.row ?? lastKnown(data)}
      />
      {before && <p class="chart-before">Dashed: {before.title}</p>}
      <ChartTable title={title} unit={unit} labels={labels} columns={columns} />
    </figure>
  )
}

function formatPointed(
  pointed: Pointed | null,
  { times }: ChartData,
  { from, to }: ChartProps['range'],
): string {
  const time = pointed && times[pointed.row]
  if (!pointed || time == null) return ''
  const moment = formatMoment(pointed.mark?.at ?? time, to - from)
  return pointed.mark ? `${moment} · ${pointed.mark.text}` : moment
}

interface LegendProps extends Pick<ChartProps, 'labels' | 'unit'> {
  readonly isStacked: boolean | undefined
  readonly data: ChartData
  readonly row: number
}

function Legend({ labels, unit, data, row, isStacked = false }: LegendProps) {
  const { values, before } = data
  const wasOf = (at: number): string | null =>
    before[at] === undefined ? null : formatValue(unit, valueNear(before[at], row))
  return (
    <ul class="chart-legend">
      {labels.map((label, at) => (
        <li key={label}>
          <span class="chart-line" style={{ color: `var(--line-${at + 1})` }} />
          {label}
          <b class="chart-value">
            {formatValue(unit, valueNear(values[at], row))}
            {!isStacked && wasOf(at) !== null && <i class="chart-was"> was {wasOf(at)}</i>}
          </b>
        </li>
      ))}
      {isStacked && before.length > 0 && (
        <li>
          All
          <b class="chart-value">
            <i class="chart-was">was {wasOf(0)}</i>
          </b>
        </li>
      )}
    </ul>
  )
}
