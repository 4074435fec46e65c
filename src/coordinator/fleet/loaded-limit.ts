/**
 * Limits the managed VCLs on a cache (docs/behaviour.md, Loaded VCLs): each group's previous revision stays loaded for a
 * rollback until there are too many; then the oldest are discarded. VCLs that serve or are being loaded are never discarded.
 */
import type { PlacedPrograms } from '../../vcl/desired-engine.js'

/** docs/behaviour.md, Loaded VCLs. The cache's own limit is 100 (`max_vcl`, 7.1), and a deploy needs room beside serving VCLs. */
export const loadedLimit = 60

export interface AgedPlacement extends Pick<PlacedPrograms, 'current' | 'candidate' | 'previous'> {
  /** When the current VCL started to serve and the previous one became idle. Milliseconds since 1970; null: unknown. */
  readonly deployedAt: number | null
}

/** Returns one agent's placements whose previous revision must be discarded; `loaded` counts all managed VCLs desired there. */
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

/** The group uses that VCL for nothing else: a rollback in progress makes it the candidate. */
function isIdle({ current, candidate, previous }: AgedPlacement): boolean {
  if (previous === null) return false
  return previous.name !== current?.name && previous.name !== candidate?.name
}
