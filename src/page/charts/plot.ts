/** Configures uPlot for our charts: theme colours, container size, drag to zoom, marks. */
import uPlot from 'uplot'
import type { ChartProps, DrawnChart } from './chart.js'
import type { ChartData } from './chart-data.js'
import { findMark, type ChartMark } from './chart-mark.js'
import { drawMarks, drawWhiles } from './draw-marks.js'
import { formatTick } from './format-tick.js'
import { listDistances, formatValue } from './format-value.js'
import { readPalette, type Palette } from './palette.js'

export interface Plot {
  show(data: ChartData): void
  /** Reads the colours again. */
  recolour(): void
  stop(): void
}

/** The pointer's position. */
export interface Pointed {
  readonly row: number
  /** The mark at the pointer; null: none. */
  readonly mark: ChartMark | null
}

type Newest = { readonly current: DrawnChart }

/** CSS pixels, the height of the container. */
const height = 180
/** CSS pixels; a shorter drag is a click. */
const minDragPx = 6
/** CSS pixels; a mark within this distance of the pointer is described. */
const markReach = 6

export function drawPlot(
  place: HTMLElement,
  newest: Newest,
  point: (at: Pointed | null) => void,
): Plot {
  let palette = readPalette(place)
  const size = { width: Math.max(place.clientWidth, 1), height }
  const options = composeOptions(newest, () => palette, point)
  const plot = new uPlot({ ...size, ...options }, toAligned(newest.current.data), place)
  const resized = new ResizeObserver(() => {
    if (place.clientWidth > 0 && place.clientWidth !== plot.width)
      plot.setSize({ width: place.clientWidth, height })
  })
  resized.observe(place)
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const recolour = (): void => {
    palette = readPalette(place)
    plot.redraw(false)
  }
  dark.addEventListener('change', recolour)
  return {
    show: (data) => {
      plot.setData(toAligned(data))
    },
    recolour,
    stop: () => {
      dark.removeEventListener('change', recolour)
      resized.disconnect()
      plot.destroy()
    },
  }
}

function composeOptions(
  newest: Newest,
  palette: () => Palette,
  point: (at: Pointed | null) => void,
): Omit<uPlot.Options, 'width' | 'height'> {
  const { unit, together, onZoom } = newest.current
  const sync = { key: together ?? '', filters: { pub: isPointing } }
  return {
    legend: { show: false },
    // Half of the last label extends beyond the plot.
    padding: [8, 28, 0, 0],
    scales: {
      x: { range: () => [newest.current.range.from, newest.current.range.to] },
      y: { range: (_, __, most) => [0, roomAbove(unit, most)] },
    },
    axes: [timeAxis(palette), valueAxis(palette, unit)],
    ...composeSeries(newest.current, palette),
    cursor: {
      drag: { x: onZoom !== undefined, y: false, setScale: false },
      points: { size: 6 },
      ...(together !== undefined && { sync }),
    },
    hooks: {
      drawClear: [
        (drawn) => {
          drawWhiles(drawn, newest.current.marks ?? [], palette())
        },
      ],
      draw: [
        (drawn) => {
          drawMarks(drawn, newest.current.marks ?? [], palette())
        },
      ],
      setCursor: [
        (drawn) => {
          point(findPointed(drawn, newest.current))
        },
      ],
      setSelect: [
        (drawn) => {
          zoomToSelection(drawn, newest.current)
        },
      ],
    },
  }
}

/** One line per label, in a stack filled down to the line below; then the dashed lines of the earlier period. */
function composeSeries(
  { labels, isStacked = false, data }: DrawnChart,
  palette: () => Palette,
): Pick<uPlot.Options, 'series' | 'bands'> {
  const stroke = (at: number) => () => palette().lines[at] ?? palette().words
  const lines = labels.map((label, at) => ({
    label,
    width: 1.5,
    stroke: stroke(at),
    points: isStacked ? { show: false } : { size: 4 },
    // The lowest area: a band needs two lines.
    ...(isStacked && at === 0 && { fill: () => palette().areas[at] ?? palette().grid }),
  }))
  const before = data.before.map((_, at) => ({
    width: 1.5,
    dash: [5, 4],
    points: { show: false },
    stroke: isStacked ? () => palette().words : stroke(at),
  }))
  const bands = labels.slice(1).map((_, at) => ({
    series: [at + 2, at + 1] as [number, number],
    fill: () => palette().areas[at + 1] ?? palette().grid,
  }))
  return { series: [{}, ...lines, ...before], ...(isStacked && { bands }) }
}

function timeAxis(palette: () => Palette): uPlot.Axis {
  return {
    stroke: () => palette().words,
    grid: { show: false },
    ticks: { show: false },
    size: 28,
    font: palette().font,
    // Fits a time with seconds.
    space: 92,
    values: (_, splits) => splits.map((time) => formatTick(time, distanceOf(splits))),
  }
}

function valueAxis(palette: () => Palette, unit: ChartProps['unit']): uPlot.Axis {
  return {
    stroke: () => palette().words,
    ticks: { show: false },
    size: 72,
    font: palette().font,
    incrs: listDistances(unit),
    grid: { stroke: () => palette().grid, width: 1 },
    values: (_, splits) => splits.map((value) => formatValue(unit, value)),
  }
}

function findPointed(drawn: uPlot, { marks = [] }: ChartProps): Pointed | null {
  const { idx, left = -1 } = drawn.cursor
  if (idx == null || left < 0) return null
  return { row: idx, mark: findMark(marks, left, (at) => drawn.valToPos(at, 'x'), markReach) }
}

function zoomToSelection(drawn: uPlot, { onZoom }: ChartProps): void {
  const { left, width } = drawn.select
  if (width < minDragPx) return
  drawn.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
  const [from, to] = [left, left + width].map((at) => Math.round(drawn.posToVal(at, 'x')))
  if (from !== undefined && to !== undefined && to > from) onZoom?.(from, to)
}

/** Ticks are equidistant. */
function distanceOf([first = 0, second = first]: readonly number[]): number {
  return second - first
}

/** Dragging concerns one chart; its zoom reaches the others through their range. */
function isPointing(type: string): boolean {
  return type === 'mousemove' || type === 'mouseleave'
}

/** A tenth above the maximum; shares end at 100 %, and a series that is always 0 lies at the bottom. */
function roomAbove(unit: ChartProps['unit'], most: number | null): number {
  if (unit === 'share') return 1
  return most === null || most <= 0 ? 1 : most * 1.1
}

function toAligned({ times, lines, before }: ChartData): uPlot.AlignedData {
  return [[...times], ...[...lines, ...before].map((column) => [...column])]
}
