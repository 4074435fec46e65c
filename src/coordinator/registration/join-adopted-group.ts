/**
 * `--adopt-group`: a cache that runs the text of a deployed root group is placed in it without any change on the cache: its VCL
 * keeps its name. A different text gets its own group, and the difference is reported.
 */
import { rebuildInSteps } from '../../vcl/running-vcl.js'
import { runInSteps } from '../../in-steps.js'
import { FleetError } from '../../errors.js'
import { adoptedPrefix, addStaticTag } from '../fleet/adoption-queries.js'
import type { RegisteredRow } from '../fleet/agent-rows.js'
import { addAssignedTags, readTagsOfAgent } from '../fleet/agent-tags.js'
import { raiseMax, readDeploymentsOf, type DeploymentRecord } from '../fleet/deployment-queries.js'
import { readDeploys } from '../fleet/deploy-queries.js'
import { readPlacements } from '../fleet/placement-queries.js'
import { findSource } from '../fleet/sources.js'
import type { Queries } from '../store/store.js'
import { findGroupNamed, type GroupRecord } from '../fleet/group-queries.js'
import { compareTexts } from '../files/compare-texts.js'
import {
  saveServingPlacement,
  type AdoptedVcl,
  type Adopter,
  type MadeGroup,
} from './adopted-group.js'

/** Comparison of a text with that of the group, made before the decision, which uses it only while the group has that text. */
export interface Comparison {
  readonly sha: string
  readonly difference: string | null
}

/** In characters; longer differences are cut. */
const differenceLimit = 64 * 1024
const cutNote = '\n(cut: the difference is over 64 KiB)\n'

/** Returns null if there is nothing to compare with. */
export async function compareWithGroup(
  queries: Queries,
  { organizationId, name: agentName }: Pick<RegisteredRow, 'organizationId' | 'name'>,
  { parts }: Pick<AdoptedVcl, 'parts'>,
  groupName: string,
): Promise<Comparison | null> {
  const rebuilt = await runInSteps(rebuildInSteps(parts, 'running'))
  const release = (await findGroupNamed(queries, organizationId, groupName))?.desiredRelease
  if (!rebuilt.ok || !release) return null
  const { sha } = release
  const source = sha === rebuilt.bundle.sha ? undefined : await findSource(queries, sha)
  if (!source) return { sha, difference: null }
  const patch = await compareTexts(
    { name: `VCL group ${groupName}`, text: source.text },
    { name: `agent ${agentName}`, text: rebuilt.bundle.text },
  )
  return { sha, difference: patch === null ? 'they differ too much to be compared\n' : cut(patch) }
}

/** A character has at most four bytes. */
function cut(patch: string): string {
  const bytes = Buffer.from(patch)
  if (bytes.length <= differenceLimit) return patch
  // A truncated character becomes a replacement character.
  const start = bytes.subarray(0, differenceLimit - cutNote.length).toString('utf8')
  return start.replace(/\uFFFD+$/, '') + cutNote
}

/** Returns why no agent can join the group, null if one can. Throws 'unavailable' while a deploy of it runs. */
export async function findObstacle(queries: Queries, group: GroupRecord): Promise<string | null> {
  if ((await readDeploys(queries, [group.id])).length > 0)
    throw new FleetError(
      'unavailable',
      'agent',
      `VCL group ${JSON.stringify(group.name)}, which it is to join, is being deployed`,
    )
  if (group.console) return 'is a group of the console'
  if (!group.desiredRelease || group.deployPending) return 'is not deployed'
  if (group.desiredRelease.domains.length > 0) return 'is not a root group'
  return (await readDeploymentsOf(queries, group.desiredRelease.deploymentIds)).length === 0
    ? 'has no deployment'
    : null
}

/** Call under the decision lock, for the group's own text. Raises the deployment's max if needed and gives the agent its tags. */
export async function joinGroup(
  { queries, agent, now }: Adopter,
  { group, program }: { readonly group: GroupRecord; readonly program: string },
): Promise<MadeGroup> {
  const { desiredRelease, organizationId, revision } = group
  if (!desiredRelease) throw new Error(`group ${group.id} is joined and has no release`)
  const borne = new Set((await readTagsOfAgent(queries, agent.id)).map(({ id }) => id))
  const deployments = await readDeploymentsOf(queries, desiredRelease.deploymentIds)
  const deployment = deployments.toSorted(
    (a, b) => countMissing(a, borne) - countMissing(b, borne) || a.id - b.id,
  )[0]
  if (!deployment) throw new Error(`group ${group.id} is joined and has no deployment`)
  const missing = deployment.tags.filter(({ id }) => !borne.has(id))
  // Static, as on the first host of an adopted group, so that editing the agent's tags does not remove the group.
  const adopted = missing.find(({ name }) => name.startsWith(adoptedPrefix))
  if (adopted) await addStaticTag(queries, agent.id, adopted.id)
  const assigned = missing.filter((tag) => tag !== adopted)
  await addAssignedTags(
    queries,
    agent.id,
    assigned.map(({ id }) => id),
  )
  const places = await readPlacements(queries, { groupIds: [group.id], stage: false })
  const held = places.filter(({ deploymentId }) => deploymentId === deployment.id)
  await raiseMax(queries, deployment.id, held.length + 1, now)
  await saveServingPlacement(
    queries,
    {
      group: { id: group.id, organizationId },
      agentId: agent.id,
      deploymentId: deployment.id,
      revision,
      position: Math.max(0, ...places.map(({ position }) => position)) + 1,
      program: { name: program, sha: desiredRelease.sha, fqdns: null },
    },
    now,
  )
  return { id: group.id, name: group.name, tag: adopted?.name ?? null }
}

function countMissing({ tags }: DeploymentRecord, borne: ReadonlySet<number>): number {
  return tags.filter(({ id }) => !borne.has(id)).length
}
