/** Draws marks in a plot: a period as a background behind the lines, a moment as a dashed line with a head. */
import type uPlot from 'uplot'
import type { ChartMark } from './chart-mark.js'
import type { Palette } from './palette.js'

/** CSS pixels: half the width of a mark's head. */
const headHalf = 4

export function drawWhiles(plot: uPlot, marks: readonly ChartMark[], palette: Palette): void {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.fillStyle = palette.outageGround
  for (const { at, until } of marks) {
    if (until === undefined) continue
    const from = clampInto(plot.valToPos(at, 'x', true), bbox)
    const to = clampInto(plot.valToPos(until, 'x', true), bbox)
    // A short period stays visible.
    if (to >= from && isWithin(plot, at, until))
      ctx.fillRect(from, bbox.top, Math.max(to - from, 2), bbox.height)
  }
  ctx.restore()
}

export function drawMarks(plot: uPlot, marks: readonly ChartMark[], palette: Palette): void {
  const { ctx, bbox } = plot
  const half = headHalf * devicePixelRatio
  ctx.save()
  ctx.lineWidth = devicePixelRatio
  for (const { at, until, tone } of marks) {
    if (until !== undefined || !isWithin(plot, at, at)) continue
    const x = Math.round(plot.valToPos(at, 'x', true))
    ctx.strokeStyle = ctx.fillStyle = palette.marks[tone]
    ctx.setLineDash([half / 2, half / 2])
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
    ctx.beginPath()
    ctx.moveTo(x - half, bbox.top)
    ctx.lineTo(x + half, bbox.top)
    ctx.lineTo(x, bbox.top + half * 1.5)
    ctx.fill()
  }
  ctx.restore()
}

function isWithin({ scales }: uPlot, from: number, to: number): boolean {
  const { min, max } = scales['x'] ?? {}
  return min != null && max != null && to >= min && from <= max
}

function clampInto(x: number, { left, width }: uPlot.BBox): number {
  return Math.min(left + width, Math.max(left, x))
}
