/**
 * How many VCLs of ours a cache holds (docs/behaviour.md, Loaded VCLs): each group's previous revision stays loaded for a
 * rollback, until there are too many; then the oldest go. What serves or is being loaded never goes.
 */
import type { PlacedPrograms } from '../../vcl/desired-engine.js'

/** docs/behaviour.md, Loaded VCLs. The cache's own limit is 100 (`max_vcl`, 7.1), and a deploy needs room beside what serves. */
export const loadedLimit = 60

export interface AgedPlacement extends Pick<PlacedPrograms, 'current' | 'candidate' | 'previous'> {
  /** When what serves began to: since then the previous one waits. Milliseconds since 1970; null: not known. */
  readonly deployedAt: number | null
}

/** The places whose previous revision must go, of those of one agent; `loaded` counts all VCLs of ours that are wanted there. */
export function findOldestPrevious<Place extends AgedPlacement>(
  places: readonly Place[],
  loaded: number,
): readonly Place[] {
  if (loaded <= loadedLimit) return []
  return places
    .filter(isIdle)
    .toSorted((a, b) => (a.deployedAt ?? 0) - (b.deployedAt ?? 0))
    .slice(0, loaded - loadedLimit)
}

/** Nothing else of the group is that VCL: a rollback on its way makes it the candidate. */
function isIdle({ current, candidate, previous }: AgedPlacement): boolean {
  if (previous === null) return false
  return previous.name !== current?.name && previous.name !== candidate?.name
}
