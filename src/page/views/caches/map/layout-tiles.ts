/** Where each tile of the map stands: values in, values out. All lengths in pixels. */

export interface Section {
  readonly left: number
  readonly top: number
  /** Of its title too. */
  readonly width: number
  readonly columns: number
  /** Of all tiles, the first and how many. */
  readonly from: number
  readonly count: number
}

export interface Layout {
  /** The side of a tile with the gap behind it. */
  readonly cell: number
  readonly height: number
  readonly sections: readonly Section[]
}

const titleHeight = 22
const gap = 14
/** A title has room for some letters. */
const sectionWidthLeast = 84
const cells = [64, 56, 48, 40, 34, 30, 26, 22, 20, 18, 16, 14, 12, 11, 10, 9, 8] as const

/** The largest tiles with which all fits; where none do the smallest, and the map is scrolled. */
export function layoutTiles(counts: readonly number[], width: number, height: number): Layout {
  const layouts = cells.map((cell) => () => layoutAt(cell, counts, width, height))
  for (const make of layouts) {
    const layout = make()
    if (layout.height <= height) return layout
  }
  return layoutAt(cells[cells.length - 1] ?? 8, counts, width, height)
}

/** Groups side by side as far as there is room, each about as broad as the map itself. */
function layoutAt(cell: number, counts: readonly number[], width: number, height: number): Layout {
  const most = Math.max(1, Math.floor(width / cell))
  const aspect = Math.max(1, width / Math.max(1, height))
  const sections: Section[] = []
  let [left, top, shelf, from] = [0, 0, 0, 0]
  for (const count of counts) {
    const wanted =
      counts.length === 1
        ? most
        : Math.max(Math.ceil(Math.sqrt(count * aspect)), Math.ceil(sectionWidthLeast / cell))
    const columns = Math.min(most, wanted)
    const broad = columns * cell
    if (left > 0 && left + broad > width) {
      top += shelf + gap
      ;[left, shelf] = [0, 0]
    }
    sections.push({ left, top, width: broad, columns, from, count })
    shelf = Math.max(shelf, titleHeight + Math.ceil(count / columns) * cell)
    left += broad + gap
    from += count
  }
  return { cell, height: top + shelf, sections }
}

export interface Place {
  readonly left: number
  readonly top: number
}

/** Null: there is no such tile. */
export function findPlace({ sections, cell }: Layout, index: number): Place | null {
  const section = sections.find(({ from, count }) => index >= from && index < from + count)
  if (!section) return null
  return placeIn(section, cell, index - section.from)
}

/** Of the tile that is so far behind the first one of its section. */
export function placeIn({ left, top, columns }: Section, cell: number, at: number): Place {
  return {
    left: left + (at % columns) * cell,
    top: top + titleHeight + Math.floor(at / columns) * cell,
  }
}

/** The tile at a point; null: none. */
export function findTile({ sections, cell }: Layout, x: number, y: number): number | null {
  for (const { left, top, columns, from, count } of sections) {
    const column = Math.floor((x - left) / cell)
    const row = Math.floor((y - top - titleHeight) / cell)
    const at = row * columns + column
    if (column >= 0 && column < columns && row >= 0 && at < count) return from + at
  }
  return null
}

/** Where a key leads from a tile; null: it moves nothing. */
export function nextTile(layout: Layout, index: number, key: string): number | null {
  const last = layout.sections.reduce((sum, { count }) => sum + count, 0) - 1
  const here = layout.sections.find(({ from, count }) => index >= from && index < from + count)
  const steps: Readonly<Record<string, number>> = {
    ArrowRight: index + 1,
    ArrowLeft: index - 1,
    ArrowDown: index + (here?.columns ?? 1),
    ArrowUp: index - (here?.columns ?? 1),
    Home: 0,
    End: last,
  }
  const next = steps[key]
  return next === undefined || last < 0 ? null : Math.min(last, Math.max(0, next))
}
