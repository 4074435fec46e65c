/** The appearance of a cache on the map: colour by health, size by requests. Pure functions. */
import { agentStates } from '../../../../resources/agent-state.js'
import { severities } from '../../../../resources/problem.js'
import { findReason, type Ill } from '../judge-cache.js'
import type { Rates } from '../sort-caches.js'
import type { Health, Tile } from './draw-tiles.js'

/** The size of a cache without requests, which remains visible. */
const leastSize = 0.45

export function judgeHealth(agent: Ill): Health {
  const severity = findReason(agent)?.severity
  if (severity !== undefined) return severity === severities.error ? 'error' : 'warning'
  return agent.state === agentStates.ReadOnly ? 'still' : 'well'
}

/** Caches with problems get full size: they often have no requests, but must stand out. Without rates all get full size. */
export function toTiles(
  agents: readonly (Ill & { readonly id: number })[],
  rates: ReadonlyMap<number, Rates> | null,
): readonly Tile[] {
  const requestsOf = (id: number): number => rates?.get(id)?.requests ?? 0
  const most = agents.reduce((highest, { id }) => Math.max(highest, requestsOf(id)), 0)
  return agents.map((agent) => {
    const health = judgeHealth(agent)
    const isWhole = rates === null || health === 'error' || health === 'warning'
    const share = most > 0 ? requestsOf(agent.id) / most : 0
    return { health, size: isWhole ? 1 : leastSize + (1 - leastSize) * Math.sqrt(share) }
  })
}

export function countHealth(tiles: readonly Tile[]): Readonly<Record<Health, number>> {
  const counts = { error: 0, warning: 0, well: 0, still: 0 }
  for (const { health } of tiles) counts[health]++
  return counts
}
