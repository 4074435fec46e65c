/**
 * VCL policy is checked again whenever a text flattened earlier returns to caches: the coordinator may allow less than the one
 * that accepted it, and an adopted text was never checked.
 */
import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import { createContext } from '../../../src/context.js'
import { agentChangedSubject } from '../../../src/coordinator/bus/subjects.js'
import { createTextJudge } from '../../../src/coordinator/groups/recall-sources.js'
import { requireGroup } from '../../../src/coordinator/deploying/begin.js'
import {
  promoteVclGroup,
  reloadVclGroup,
  rollBackVclGroup,
} from '../../../src/coordinator/deploying/verbs.js'
import { followPlacements } from '../../../src/coordinator/placement/placement-following.js'
import { startPlacementFollower } from '../../../src/coordinator/deploying/placement-follower.js'
import { createPlacement, switchPlacement } from '../../../src/coordinator/placement/placing.js'
import { programOf, type Release } from '../../../src/coordinator/fleet/vcl-group.js'
import {
  addHistory,
  readHistory,
  type GroupAction,
} from '../../../src/coordinator/fleet/history-queries.js'
import { readPlacements, savePlacements } from '../../../src/coordinator/fleet/placement-queries.js'
import { keepSource } from '../../../src/coordinator/fleet/sources.js'
import { writeStage } from '../../../src/coordinator/fleet/stage-queries.js'
import { writeDesiredRelease } from '../../../src/coordinator/fleet/group-queries.js'
import { eventually } from '../../support/eventually.js'
import {
  addAgent,
  addDeployment,
  addFile,
  addGroup,
  addOrganization,
  addTag,
  bearTag,
} from '../store/rows.js'
import { administrator, startService, type TestService } from '../gateway/service.js'

const text = 'vcl 4.1;\nimport vtc;\n'
const sha = createHash('sha256').update(text).digest('hex')
const earlierText = 'vcl 4.1;\nimport vtc ;\n'
const earlierSha = createHash('sha256').update(earlierText).digest('hex')
const refusal = /^main\.vcl line 2 pos 8: VCL of an organization may not use the module vtc/

interface Deployed {
  readonly service: TestService
  readonly groupId: number
  readonly sources: Release
  readonly agentIds: readonly number[]
}

/** A group that serves this text on the first of two agents, from a time when it was allowed, or adopted. */
async function startDeployed(t: Test, owner: 'red' | 'system' = 'red'): Promise<Deployed> {
  const service = await startService(t)
  const { queries } = service.store
  const organizationId = owner === 'red' ? await addOrganization(queries, owner) : null
  const tagId = await addTag(queries, 'web', organizationId)
  const fileId = await addFile(queries, 'main.vcl')
  const groupId = await addGroup(queries, 'group', fileId)
  const deploymentId = await addDeployment(queries, 'web')
  await queries.updateTable('deployments').set({ organizationId, max: 2 }).execute()
  await queries.updateTable('vclGroups').set({ organizationId }).execute()
  await queries.insertInto('deploymentTags').values({ deploymentId, tagId }).execute()
  await queries
    .insertInto('vclGroupDeployments')
    .values({ groupId, deploymentId, position: 0 })
    .execute()
  const agentIds = [await addAgent(queries, 'one'), await addAgent(queries, 'two')]
  for (const id of agentIds) await bearTag(queries, id, tagId)
  const sources: Release = {
    mainVCL: { id: fileId, version: 1, name: 'main.vcl' },
    includes: [],
    releases: null,
    domains: [],
    sha,
    programName: 'boot',
    deploymentIds: [deploymentId],
  }
  const sourceMap = { files: ['main.vcl'], segments: [[1, 1, 0, 1, 1]] as const }
  await keepSource(queries, { sha, text, sourceMap }, 1)
  await keepSource(queries, { sha: earlierSha, text: earlierText, sourceMap }, 1)
  await writeDesiredRelease(queries, groupId, { sources, pending: false, revision: 2 })
  for (const revision of [1, 2])
    await addHistory(queries, {
      groupId,
      organizationId,
      revision,
      at: revision,
      account: 'takeover',
      action: revision === 1 ? 'adopt' : 'deploy',
      result: 'ok',
      sources: revision === 1 ? { ...sources, sha: earlierSha } : sources,
    })
  const [agentId = 0] = agentIds
  const place = createPlacement({
    group: { id: groupId, organizationId },
    agentId,
    deploymentId,
    position: 1,
    revision: 2,
    program: programOf(sources),
  })
  await savePlacements(queries, [{ ...switchPlacement(place, 2), state: 'applied' }])
  return { service, groupId, sources, agentIds }
}

async function readNewest({ service, groupId }: Deployed): Promise<object | undefined> {
  const [newest] = await readHistory(service.store.queries, groupId)
  return newest && { revision: newest.revision, action: newest.action, result: newest.result }
}

void t.test(
  'a stored text that is now refused fails every verb, and the history records it',
  async (t) => {
    const deployed = await startDeployed(t)
    const { service, groupId, sources } = deployed
    const { queries } = service.store
    const context = createContext(service.log)
    const request = { actor: administrator, groupId, waitMs: 0, percent: 100 }
    const group = await requireGroup(queries, administrator, groupId)
    const stage = { tagIds: [], ownDomains: false, mainFileVersion: null }
    const { organizationId } = await queries
      .selectFrom('vclGroups')
      .select('organizationId')
      .executeTakeFirstOrThrow()
    await writeStage(
      queries,
      { groupId, organizationId, revision: 1, sources: { ...sources, stage } },
      1,
    )
    const verbs: (readonly [GroupAction, () => Promise<unknown>])[] = [
      ['reload', () => reloadVclGroup(service, context, request)],
      ['rollback', () => rollBackVclGroup(service, context, { ...request, revision: null })],
      ['rollback', () => rollBackVclGroup(service, context, { ...request, revision: 1 })],
      ['promote', () => promoteVclGroup(service, context, { ...request, group })],
    ]
    const before = await readPlacements(queries, { groupIds: [groupId] })

    for (const [action, run] of verbs) {
      await t.rejects(run(), { kind: 'uncompilable', errorKey: 'deploy', message: refusal }, action)
      t.match(await readNewest(deployed), { revision: null, action, result: refusal })
    }

    t.same(await readPlacements(queries, { groupIds: [groupId] }), before, 'placements are kept')
  },
)

void t.test('a pending deploy whose text is now refused does not run', async (t) => {
  const deployed = await startDeployed(t)
  const { service, groupId, sources } = deployed
  await writeDesiredRelease(service.store.queries, groupId, { sources, pending: true, revision: 2 })

  const follower = startPlacementFollower(service, service.log)
  t.teardown(() => follower.close())
  service.bus.publish(agentChangedSubject, { agentIds: [] })

  await eventually('the deploy was tried', async () => {
    const newest = await readNewest(deployed)
    return newest !== undefined && 'revision' in newest && newest.revision === null
  })
  t.match(await readNewest(deployed), { action: 'deploy', result: refusal })
})

void t.test('a deployed text that is now refused is placed on no further agent', async (t) => {
  const holders = async ({ service, groupId }: Deployed): Promise<number[]> => {
    const refused: string[] = []
    const judge = createTextJudge(service, (_owner, error) => refused.push(error))
    for (let count = 0; count < 2; count++)
      await service.leases.run('placement', (lease) =>
        followPlacements(service, { graceUntil: 0, lease, judge, isDue: () => true }),
      )
    t.equal(refused.length <= 1, true, 'the text is judged at most once')
    const places = await readPlacements(service.store.queries, { groupIds: [groupId] })
    return places.map(({ agentId }) => agentId)
  }
  const judged = await startDeployed(t)
  t.same(await holders(judged), judged.agentIds.slice(0, 1), 'it stays where it is')
  const own = await startDeployed(t, 'system')
  t.same(await holders(own), own.agentIds, 'the system administrator may use it')
})
