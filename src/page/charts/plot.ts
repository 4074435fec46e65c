/** uPlot as our charts use it: colours of the theme, sizes of its place, dragging as a zoom. */
import uPlot from 'uplot'
import type { ChartProps } from './chart.js'
import type { Columns } from './align-series.js'
import { formatTick } from './format-tick.js'
import { listDistances, formatValue } from './format-value.js'

export interface Plot {
  show(columns: Columns): void
  /** Reads the colours again. */
  recolour(): void
  stop(): void
}

/** CSS pixels, as the place is high. */
const height = 180
/** A shorter drag is a click. */
const dragLeast = 6

export function drawPlot(
  place: HTMLElement,
  newest: { readonly current: ChartProps },
  point: (row: number | null) => void,
): Plot {
  let palette = readPalette(place)
  const size = { width: Math.max(place.clientWidth, 1), height }
  const options = composeOptions(newest, () => palette, point)
  const plot = new uPlot({ ...size, ...options }, toData(newest.current.columns), place)
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
    show: (columns) => {
      plot.setData(toData(columns))
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
  newest: { readonly current: ChartProps },
  palette: () => Palette,
  point: (row: number | null) => void,
): Omit<uPlot.Options, 'width' | 'height'> {
  const { labels, unit, together, onZoom } = newest.current
  const sync = { key: together ?? '', filters: { pub: isPointing } }
  return {
    legend: { show: false },
    // Half of the last label sticks out at the end.
    padding: [8, 28, 0, 0],
    scales: {
      x: { range: () => [newest.current.range.from, newest.current.range.to] },
      y: { range: (_, __, most) => [0, roomAbove(unit, most)] },
    },
    axes: [timeAxis(palette), valueAxis(palette, unit)],
    series: [
      {},
      ...labels.map((label, at) => ({
        label,
        width: 1.5,
        points: { size: 4 },
        stroke: () => palette().lines[at] ?? palette().words,
      })),
    ],
    cursor: {
      drag: { x: onZoom !== undefined, y: false, setScale: false },
      points: { size: 6 },
      ...(together !== undefined && { sync }),
    },
    hooks: {
      setCursor: [
        ({ cursor }) => {
          point(cursor.idx ?? null)
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

function timeAxis(palette: () => Palette): uPlot.Axis {
  return {
    stroke: () => palette().words,
    grid: { show: false },
    ticks: { show: false },
    size: 28,
    font: palette().font,
    space: 70,
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

function zoomToSelection(drawn: uPlot, { onZoom }: ChartProps): void {
  const { left, width } = drawn.select
  if (width < dragLeast) return
  drawn.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
  const [from, to] = [left, left + width].map((at) => Math.round(drawn.posToVal(at, 'x')))
  if (from !== undefined && to !== undefined && to > from) onZoom?.(from, to)
}

/** They lie at equal distances. */
function distanceOf([first = 0, second = first]: readonly number[]): number {
  return second - first
}

/** A drag is of one chart; its zoom comes to the others by their range. */
function isPointing(type: string): boolean {
  return type === 'mousemove' || type === 'mouseleave'
}

/** A tenth above the highest; shares end at all of it, and what is nothing all the time lies at the bottom. */
function roomAbove(unit: ChartProps['unit'], most: number | null): number {
  if (unit === 'share') return 1
  return most === null || most <= 0 ? 1 : most * 1.1
}

function toData({ times, values }: Columns): uPlot.AlignedData {
  return [[...times], ...values.map((column) => [...column])]
}

interface Palette {
  readonly words: string
  readonly grid: string
  readonly lines: readonly string[]
  readonly font: string
}

/** A canvas knows no custom properties: they are read as they are now. */
function readPalette(place: HTMLElement): Palette {
  const probe = document.createElement('span')
  place.append(probe)
  const read = (name: string): string => {
    probe.style.color = `var(--${name})`
    return getComputedStyle(probe).color
  }
  const palette = {
    words: read('ink-soft'),
    grid: read('line-faint'),
    lines: [1, 2, 3, 4, 5, 6].map((at) => read(`line-${at}`)),
    font: `12px ${getComputedStyle(place).fontFamily}`,
  }
  probe.remove()
  return palette
}
