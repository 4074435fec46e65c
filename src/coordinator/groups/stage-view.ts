/** A stage as the API returns it: the pinned files and domains, and the tags' current names (docs/behaviour.md, Stages). */
import type { ReleaseDomain, ReleaseFile } from '../fleet/vcl-group.js'
import type { NamedReference } from '../store/owner.js'
import { readStages } from '../fleet/stage-queries.js'
import { readTagNames } from '../fleet/tag-queries.js'
import type { StateService } from '../service.js'

export interface StageView {
  readonly tags: readonly NamedReference[]
  readonly domains: readonly ReleaseDomain[]
  readonly mainVCL: ReleaseFile
  readonly includes: readonly ReleaseFile[]
}

/** By group; two queries for any number of groups. */
export async function readStageViews(
  service: StateService,
  groupIds: readonly number[],
): Promise<Map<number, StageView>> {
  const { queries } = service.store
  if (groupIds.length === 0) return new Map()
  const stages = await readStages(queries, groupIds)
  const names = await readTagNames(
    queries,
    stages.flatMap(({ sources }) => sources.stage.tagIds),
  )
  return new Map(
    stages.map(({ groupId, sources }) => {
      const { stage, domains, mainVCL, includes } = sources
      const tags = stage.tagIds.map((id) => ({ id, name: names.get(id) ?? '' }))
      return [groupId, { tags, domains, mainVCL, includes }]
    }),
  )
}
