/** Computes the position of each tile of the map. Pure functions. All lengths in pixels. */

export interface Section {
  readonly left: number
  readonly top: number
  /** Includes the title. */
  readonly width: number
  readonly columns: number
  /** The index of the first tile among all tiles, and the number of tiles. */
  readonly from: number
  readonly count: number
}

export interface Layout {
  /** The side of a tile including the gap after it. */
  readonly cell: number
  readonly height: number
  readonly sections: readonly Section[]
}

const titleHeight = 22
const gap = 14
/** Leaves room for some letters of a title. */
const minSectionWidthPx = 84
const cells = [64, 56, 48, 40, 34, 30, 26, 22, 20, 18, 16, 14, 12, 11, 10, 9, 8] as const

/** Uses the largest tiles that fit; if none fit, the smallest, and the map scrolls. */
export function layoutTiles(counts: readonly number[], width: number, height: number): Layout {
  const layouts = cells.map((cell) => () => layoutAt(cell, counts, width, height))
  for (const make of layouts) {
    const layout = make()
    if (layout.height <= height) return layout
  }
  return layoutAt(cells[cells.length - 1] ?? 8, counts, width, height)
}

/** Places groups side by side while there is room, each with about the aspect ratio of the map. */
function layoutAt(cell: number, counts: readonly number[], width: number, height: number): Layout {
  const most = Math.max(1, Math.floor(width / cell))
  const aspect = Math.max(1, width / Math.max(1, height))
  const sections: Section[] = []
  let [left, top, shelf, from] = [0, 0, 0, 0]
  for (const count of counts) {
    const wanted =
      counts.length === 1
        ? most
        : Math.max(Math.ceil(Math.sqrt(count * aspect)), Math.ceil(minSectionWidthPx / cell))
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

/** Null: no such tile. */
export function findPlace({ sections, cell }: Layout, index: number): Place | null {
  const section = sections.find(({ from, count }) => index >= from && index < from + count)
  if (!section) return null
  return placeIn(section, cell, index - section.from)
}

/** Returns the place of the tile at this index within its section. */
export function placeIn({ left, top, columns }: Section, cell: number, at: number): Place {
  return {
    left: left + (at % columns) * cell,
    top: top + titleHeight + Math.floor(at / columns) * cell,
  }
}

/** Returns the index of the tile at a point; null: none. */
export function findTile({ sections, cell }: Layout, x: number, y: number): number | null {
  for (const { left, top, columns, from, count } of sections) {
    const column = Math.floor((x - left) / cell)
    const row = Math.floor((y - top - titleHeight) / cell)
    const at = row * columns + column
    if (column >= 0 && column < columns && row >= 0 && at < count) return from + at
  }
  return null
}

/** Returns the tile that a key moves to; null: the key does not move. */
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
