/** The theme's colours for a canvas, which cannot use custom properties: the current values are read. */

export interface Palette {
  readonly words: string
  readonly grid: string
  readonly lines: readonly string[]
  /** For a stack, in the order of the lines. */
  readonly areas: readonly string[]
  readonly marks: { readonly change: string; readonly removal: string; readonly outage: string }
  readonly outageGround: string
  readonly font: string
}

const places = [1, 2, 3, 4, 5, 6]

export function readPalette(place: HTMLElement): Palette {
  const probe = document.createElement('span')
  place.append(probe)
  const read = (color: string): string => {
    probe.style.color = color
    return getComputedStyle(probe).color
  }
  const palette = {
    words: read('var(--ink-soft)'),
    grid: read('var(--line-faint)'),
    lines: places.map((at) => read(`var(--line-${at})`)),
    areas: places.map((at) => read(`color-mix(in srgb, var(--line-${at}) 35%, var(--raised))`)),
    marks: {
      change: read('var(--ink)'),
      removal: read('var(--line-4)'),
      outage: read('var(--bad-ink)'),
    },
    outageGround: read('var(--bad-soft)'),
    font: `12px ${getComputedStyle(place).fontFamily}`,
  }
  probe.remove()
  return palette
}
