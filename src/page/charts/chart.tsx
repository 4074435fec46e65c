/**
 * A chart of lines over time: values at the pointer in its legend, dragging zooms, a table of the same. Charts with the same
 * `together` show the same moment.
 */
import { useSignal } from '@preact/signals'
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Time, toIso } from '../parts/time.js'
import { theme } from '../shell/theme.js'
import type { Columns } from './align-series.js'
import { ChartTable } from './chart-table.js'
import { drawPlot, type Plot } from './plot.js'
import { formatValue, type Unit } from './format-value.js'

export interface ChartProps {
  readonly title: string
  readonly unit: Unit
  /** Six at most: there are so many colours. */
  readonly labels: readonly string[]
  /** A column for each label. */
  readonly columns: Columns
  /** Seconds since 1970. */
  readonly range: { readonly from: number; readonly to: number }
  readonly onZoom?: (from: number, to: number) => void
  readonly together?: string
}

export function Chart(props: ChartProps) {
  const { title, unit, labels, columns, range } = props
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<Plot | null>(null)
  /** The row at the pointer; null: it is elsewhere. */
  const pointed = useSignal<number | null>(null)
  const id = useId()
  // What the plot calls is always of the last drawing.
  const newest = useRef(props)
  newest.current = props

  // Before it is painted: what is seen can be dragged.
  useLayoutEffect(() => {
    if (!place.current) return
    const drawn = drawPlot(place.current, newest, (row) => {
      pointed.value = row
    })
    plot.current = drawn
    return () => {
      plot.current = null
      drawn.stop()
    }
  }, [labels.join('\n'), unit])
  useLayoutEffect(() => {
    plot.current?.show(columns)
  }, [columns, range.from, range.to])
  const chosen = theme.value
  useEffect(() => {
    requestAnimationFrame(() => plot.current?.recolour())
  }, [chosen])

  const row = pointed.value ?? lastKnown(columns)
  const time = columns.times[row]
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption class="chart-head">
        <h2 id={id}>{title}</h2>
        <span class="chart-moment">{time !== undefined && <Time at={toIso(time)} />}</span>
      </figcaption>
      <div class="chart-frame">
        <div class="chart-plot" ref={place} role="img" aria-label={`${title}, as lines`} />
        {columns.times.length === 0 && <p class="chart-nothing">Nothing of this in this range</p>}
      </div>
      <ul class="chart-legend">
        {labels.map((label, at) => (
          <li key={label}>
            <span class="chart-line" style={{ color: `var(--line-${at + 1})` }} />
            {label}
            <b class="chart-value">{formatValue(unit, columns.values[at]?.[row])}</b>
          </li>
        ))}
      </ul>
      <ChartTable title={title} unit={unit} labels={labels} columns={columns} />
    </figure>
  )
}

/** The newest row with a value. */
function lastKnown({ times, values }: Columns): number {
  for (let row = times.length - 1; row > 0; row--)
    if (values.some((column) => column[row] != null)) return row
  return 0
}
