/** Objects with their current problems, as the API returns them. A constant number of queries for a set of one type. */
import type { Problem, ProblemBearer } from '../../resources/problem.js'
import { findAgentProblems } from '../problems/find-agent-problems.js'
import { findInvalidationProblems } from '../problems/find-invalidation-problems.js'
import { toProblems } from '../problems/make-problem.js'
import { certificateListing } from '../certificates/certificates.js'
import { deploymentListing } from '../deployments/deployments.js'
import { readAgents } from '../fleet/agent-queries.js'
import { selectDeployments } from '../fleet/deployment-queries.js'
import { groupListing } from '../groups/groups.js'
import { readRollouts } from '../fleet/rollout-queries.js'
import { listProblems } from '../rollouts/rollout-view.js'
import { readListedInvalidations } from '../invalidations/invalidation-view.js'
import type { StateService } from '../service.js'
import { viewSomeWebhooks } from '../webhooks/webhooks.js'

export interface JudgedObject {
  readonly id: number
  readonly name: string
  readonly organizationId: number | null
  readonly problems: readonly Problem[]
  /** The problems shown to organizations that share the object; empty: none. */
  readonly shared: readonly Problem[]
}

const everything = { kind: 'all' } as const

type Find = (service: StateService, ids: readonly number[]) => Promise<JudgedObject[]>

/** Deleted objects are omitted. */
export const findIll: Readonly<Record<ProblemBearer, Find>> = {
  agent: async ({ store: { queries } }, ids) => {
    const agents = await readAgents(queries, everything, ids)
    return agents.map((agent) => {
      const find = (whole: boolean) =>
        toProblems(findAgentProblems(agent, whole), () => agent.lastStateChangeAt)
      const { id, name, organization } = agent
      const shared = organization === null ? find(false) : []
      return { id, name, organizationId: organization?.id ?? null, problems: find(true), shared }
    })
  },
  vclgroup: async (service, ids) => {
    const views = await groupListing.read(
      service,
      ids.map((id) => ({ id })),
    )
    return views.map(({ group: { id, name, organizationId }, problems }) =>
      toJudged({ id, name, organizationId, problems }),
    )
  },
  stage: async (service, ids) => {
    const views = await groupListing.read(
      service,
      ids.map((id) => ({ id })),
    )
    return views.flatMap(({ group: { id, name, organizationId }, staged }) =>
      staged === null ? [] : toJudged({ id, name, organizationId, problems: staged.problems }),
    )
  },
  deployment: async (service, ids) => {
    const rows = await selectDeployments(service.store.queries, everything)
      .where('deployments.id', 'in', [...ids])
      .execute()
    const views = await deploymentListing.read(service, rows)
    return views.map(({ record: { id, name, organization }, problems }) =>
      toJudged({ id, name, organizationId: organization?.id ?? null, problems }),
    )
  },
  invalidation: async ({ store: { queries } }, ids) => {
    const listed = await readListedInvalidations(queries, ids)
    return listed.map(({ id, entry, summary }) => {
      const name = `${entry.content.type} ${id}`
      const findings = findInvalidationProblems(entry, summary)
      const problems = toProblems(findings, () => entry.updatedAt)
      return toJudged({ id, name, organizationId: entry.organization?.id ?? null, problems })
    })
  },
  certificate: async (service, ids) => {
    const rows = await certificateListing
      .select(service.store.queries, everything, service.now())
      .where('certificates.id', 'in', [...ids])
      .execute()
    const views = await certificateListing.read(service, rows)
    return views.map(({ record: { id, name, organizationId }, problems }) =>
      toJudged({ id, name, organizationId, problems }),
    )
  },
  webhook: async (service, ids) => {
    const views = await viewSomeWebhooks(service, ids)
    return views.map(({ record: { id, name, organizationId }, problems }) =>
      toJudged({ id, name, organizationId, problems }),
    )
  },
  rollout: async ({ store: { queries } }, ids) => {
    const rollouts = await readRollouts(queries, ids)
    return rollouts.map((rollout) => {
      const { id, groupName, organizationId } = rollout
      const problems = listProblems(rollout)
      return toJudged({ id, name: `rollout ${id} of ${groupName}`, organizationId, problems })
    })
  },
}

function toJudged(found: Omit<JudgedObject, 'shared'>): JudgedObject {
  return { ...found, shared: [] }
}
