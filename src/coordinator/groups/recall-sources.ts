/**
 * Texts that were flattened earlier and are loaded again: by a reload, a rollback, a promote, a pending deploy, or because a
 * deployed group gets another agent. They were checked by earlier rules, or never (adopted), so they are checked here by the
 * current rules. Besides `flattenFiles`, which checks its own result, this is the only origin of sources.
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

/** The owner whose rules apply. */
interface TextOwner {
  readonly organizationId: number | null
}

/** Returns the text, or why it is refused now. Throws 'conflict' if it no longer exists. */
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

/** More texts than are deployed at any time; each entry takes a few hundred bytes. */
const rememberedTexts = 10_000

/** Results are cached: the rules do not change while the process runs. */
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
      // A text that no longer exists is accepted: no agent can fetch it.
      const errors = source ? await judgeRecalled(service, owner, release, source) : []
      if (errors.length > 0) onRefused(owner, errors.join('\n'))
      judged.set(key, errors.length === 0)
      return errors.length === 0
    },
  }
}
