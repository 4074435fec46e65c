/** Names the deployments that a deploy pinned; the API returns only their ids. Pure function. */
import type { Group, PlacementReason, DesiredRelease } from '../../../resources/vclgroup.js'

/** Placement reasons name each deployment that matches an agent; others are shown by id. */
export function nameDeployments(
  wish: Pick<DesiredRelease, 'deployments'>,
  known: Group['deployments'],
  reasons: readonly Pick<PlacementReason, 'deployment'>[],
): readonly string[] {
  const all = [...reasons.flatMap(({ deployment }) => deployment ?? []), ...known]
  const names = new Map(all.map(({ id, name }) => [id, name]))
  return wish.deployments.map(({ id }) => names.get(id) ?? `deployment ${id}`)
}
