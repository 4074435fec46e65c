/** The names of the deployments that a deploy pinned, which the API answers by id: values in, values out. */
import type { Group, PlacementReason, DesiredRelease } from '../../../resources/vclgroup.js'

/** The reasons of a placement name those that any agent fits; another is called by its id. */
export function nameDeployments(
  wish: Pick<DesiredRelease, 'deployments'>,
  known: Group['deployments'],
  reasons: readonly Pick<PlacementReason, 'deployment'>[],
): readonly string[] {
  const all = [...reasons.flatMap(({ deployment }) => deployment ?? []), ...known]
  const names = new Map(all.map(({ id, name }) => [id, name]))
  return wish.deployments.map(({ id }) => names.get(id) ?? `deployment ${id}`)
}
