/** Draws the tiles of the map on a canvas: one path for each colour, so that ten thousand take a few milliseconds. */
import { placeIn, type Layout } from './layout-tiles.js'

export type Health = 'well' | 'warning' | 'error' | 'still'

export interface Tile {
  readonly health: Health
  /** Share of its place, 0 to 1. */
  readonly size: number
}

/** Corner radius as a share of a tile's side. */
const roundShare = 0.1
/** The gap between two tiles, in pixels: smaller for small tiles. */
const gapOf = (cell: number): number => (cell >= 16 ? 3 : cell >= 11 ? 2 : 1)

export function drawTiles(
  canvas: HTMLCanvasElement,
  tiles: readonly Tile[],
  layout: Layout,
  colours: Readonly<Record<Health, string>>,
): void {
  const { clientWidth, clientHeight } = canvas
  const ratio = devicePixelRatio
  canvas.width = Math.round(clientWidth * ratio)
  canvas.height = Math.round(clientHeight * ratio)
  const context = canvas.getContext('2d')
  if (!context) return
  context.scale(ratio, ratio)
  const paths: Readonly<Record<Health, Path2D>> = {
    well: new Path2D(),
    warning: new Path2D(),
    error: new Path2D(),
    still: new Path2D(),
  }
  const room = layout.cell - gapOf(layout.cell)
  for (const section of layout.sections)
    for (let at = 0; at < section.count; at++) {
      const tile = tiles[section.from + at]
      if (!tile) continue
      const place = placeIn(section, layout.cell, at)
      const side = room * tile.size
      const inset = (room - side) / 2
      paths[tile.health].roundRect(
        ...([place.left + inset, place.top + inset, side, side] as const),
        side * roundShare,
      )
    }
  for (const [health, path] of Object.entries(paths)) {
    context.fillStyle = colours[health as Health]
    context.fill(path)
  }
}
