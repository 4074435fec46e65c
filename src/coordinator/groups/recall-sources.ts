/**
 * Texts that were flattened before and come back to caches: by a reload, a rollback, a promote, a pending deploy, or because a
 * deployed group gets another agent. They were judged by the rules of another day, or never (adopted), and are judged here by
 * those of today. With `flattenFiles`, which judges what it makes, this is the only place where sources come from.
 */
import { refuseInSteps } from '../../vcl/bundle.js'
import type { Release } from '../fleet/vcl-group.js'
import { FleetError } from '../../errors.js'
import { findSource, type SourceRecord } from '../fleet/sources.js'
import type { Queries } from '../store/store.js'
import { runInSteps } from '../../in-steps.js'
import type { StateService } from '../service.js'
import { allowedModulesOf, type Gathered } from './deploy-sources.js'
import type { TextJudge } from '../placement/placement-following.js'
import { limitToOwn } from './source-places.js'
import { createBoundedCache } from '../../runtime/bounded-cache.js'

/** Whose rules count. */
interface TextOwner {
  readonly organizationId: number | null
}

/** The text, or why it is refused now. Throws 'conflict' when it is gone. */
export async function recallSources(
  service: StateService,
  queries: Queries,
  owner: TextOwner,
  release: Release,
): Promise<Gathered> {
  const source = await findSource(queries, release.sha)
  if (!source) throw new FleetError('conflict', 'deploy', `source ${release.sha} is gone`)
  const errors = await judgeRecalled(service, owner, release, source)
  const { mainVCL, includes, deploymentIds, domains, releases } = release
  const files = { mainVCL, includes, deploymentIds, domains, releases }
  return errors.length > 0 ? { ...files, error: errors.join('\n') } : { ...files, source }
}

async function judgeRecalled(
  service: StateService,
  { organizationId }: TextOwner,
  release: Release,
  { text, sourceMap }: SourceRecord,
): Promise<readonly string[]> {
  const steps = refuseInSteps(
    { text, sourceMap: limitToOwn(sourceMap, release) },
    {
      allowedExternal: service.settings.allowedIncludes,
      amongOthers: release.domains.length > 0,
      modules: allowedModulesOf(service, organizationId),
    },
  )
  return runInSteps(steps)
}

/** More texts than are deployed at a time; each takes a few hundred bytes here. */
const rememberedTexts = 10_000

/** The rules are those of the process: they do not change while it runs. */
export function createTextJudge(
  service: StateService,
  onRefused: (owner: TextOwner, error: string) => void,
): TextJudge {
  const judged = createBoundedCache<string, boolean>(rememberedTexts)
  return {
    isTaken: async (queries, owner, release) => {
      const key = JSON.stringify([
        release.sha,
        owner.organizationId === null,
        release.domains.length > 0,
      ])
      const known = judged.get(key)
      if (known !== undefined) return known
      const source = await findSource(queries, release.sha)
      // No agent can fetch what is gone.
      const errors = source ? await judgeRecalled(service, owner, release, source) : []
      if (errors.length > 0) onRefused(owner, errors.join('\n'))
      judged.set(key, errors.length === 0)
      return errors.length === 0
    },
  }
}
