/** The meaning of the map's colours, with the count of each. The canvas reads the colours from its swatches. */
import { formatCount } from '../../../parts/quantity.js'
import type { Health } from './draw-tiles.js'

const words: Readonly<Record<Health, string>> = {
  error: 'Error',
  warning: 'Warning',
  well: 'Running',
  still: 'Read-only',
}
const shown = Object.keys(words) as readonly Health[]

interface LegendProps {
  readonly counts: Readonly<Record<Health, number>>
  readonly hasSizes: boolean
}

export function Legend({ counts, hasSizes }: LegendProps) {
  return (
    <p class="map-legend">
      {shown.map((health) => (
        <span key={health} class={counts[health] === 0 ? 'map-legend-none' : ''}>
          <span class={`map-swatch map-${health}`} data-health={health} />
          {words[health]} <strong>{formatCount(counts[health])}</strong>
        </span>
      ))}
      {hasSizes && <span class="quiet">Size: requests per second</span>}
    </p>
  )
}

/** Reads the current colours: the theme and the connection change them. */
export function readColours(): Readonly<Record<Health, string>> {
  const read = (health: Health): string => {
    const swatch = document.querySelector(`.map-swatch[data-health="${health}"]`)
    return swatch ? getComputedStyle(swatch).backgroundColor : 'transparent'
  }
  return {
    error: read('error'),
    warning: read('warning'),
    well: read('well'),
    still: read('still'),
  }
}
