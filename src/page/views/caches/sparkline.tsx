/** A cache's requests over the last minutes, each line scaled from zero to its own maximum. */
import { useComputed } from '@preact/signals'
import type { Agent } from '../../../resources/agent.js'
import { now } from '../../parts/time.js'
import { isAway } from './judge-cache.js'
import { readPoints, spanSeconds } from './row-histories.js'
import { drawLine } from './sparkline-path.js'

const [width, height] = [88, 20]

export function Sparkline({ of }: { readonly of: Pick<Agent, 'id' | 'state'> }) {
  const points = readPoints(of.id)
  const path = useComputed(() => {
    // A cache that is Down had no requests since; others end at their newest point, regardless of the browser's clock.
    const to = isAway(of) ? now.value / 1000 : (points.value.at(-1)?.time ?? 0)
    return drawLine(points.value, { from: to - spanSeconds, to, width, height: height - 2 })
  })
  return (
    <svg
      class={isAway(of) ? 'sparkline sparkline-still' : 'sparkline'}
      viewBox={`0 -1 ${width} ${height}`}
      aria-hidden="true"
    >
      <path d={path} />
    </svg>
  )
}
