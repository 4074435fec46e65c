/** A deploy of VCL that all of its agents hold has nothing to load: its begin is its decision. */
import t, { type Test } from 'tap'
import { createContext } from '../../../src/context.js'
import { requireGroup } from '../../../src/coordinator/deploying/begin.js'
import { rollBackVclGroup } from '../../../src/coordinator/deploying/verbs.js'
import { recomposeDesired } from '../../../src/coordinator/fleet/desired-states.js'
import { addHistory } from '../../../src/coordinator/fleet/history-queries.js'
import { readPlacements, savePlacements } from '../../../src/coordinator/fleet/placement-queries.js'
import { keepSource } from '../../../src/coordinator/fleet/sources.js'
import { writeDesiredRelease } from '../../../src/coordinator/fleet/group-queries.js'
import { programOf, type Release } from '../../../src/coordinator/fleet/vcl-group.js'
import { createPlacement, switchPlacement } from '../../../src/coordinator/placement/placing.js'
import { administrator, startService } from '../gateway/service.js'
import { addAgent, addDeployment, addFile, addGroup, addTag, bearTag } from '../store/rows.js'

const shas = ['a'.repeat(64), 'b'.repeat(64)] as const

/** Three agents serve revision 2; `holding` of them have revision 1 loaded. Rolls back without waiting for the agents. */
async function rollBack(t: Test, holding: number) {
  const service = await startService(t)
  const { queries } = service.store
  const tagId = await addTag(queries, 'web')
  const fileId = await addFile(queries, 'main.vcl')
  const groupId = await addGroup(queries, 'group', fileId)
  const deploymentId = await addDeployment(queries, 'web')
  await queries.updateTable('deployments').set({ min: 3, max: 3 }).execute()
  await queries.insertInto('deploymentTags').values({ deploymentId, tagId }).execute()
  await queries
    .insertInto('vclGroupDeployments')
    .values({ groupId, deploymentId, position: 0 })
    .execute()
  const releases = shas.map((sha, at): Release => ({
    mainVCL: { id: fileId, version: 1, name: 'main.vcl' },
    includes: [],
    releases: null,
    domains: [],
    sha,
    programName: `cf-${groupId}-${at + 1}-1`,
    deploymentIds: [deploymentId],
  }))
  const [earlier, served] = releases as [Release, Release]
  for (const [at, sources] of releases.entries()) {
    await keepSource(
      queries,
      { sha: sources.sha, text: `vcl 4.1; # ${at}`, sourceMap: { files: [], segments: [] } },
      1,
    )
    const entry = {
      groupId,
      organizationId: null,
      at,
      account: 'anna',
      action: 'deploy',
      result: 'ok',
    } as const
    await addHistory(queries, { ...entry, revision: at + 1, sources })
  }
  await writeDesiredRelease(queries, groupId, { sources: served, pending: false, revision: 2 })
  for (const position of [1, 2, 3]) {
    const agentId = await addAgent(queries, `edge-${position}`)
    await bearTag(queries, agentId, tagId)
    const group = { id: groupId, organizationId: null }
    const program = programOf(served)
    const place = createPlacement({ group, agentId, deploymentId, position, revision: 2, program })
    const previous = position <= holding ? programOf(earlier) : null
    await savePlacements(queries, [{ ...switchPlacement(place, 2), state: 'applied', previous }])
  }
  const context = createContext(service.log)
  const request = { actor: administrator, groupId, waitMs: 0, percent: 100, revision: null }
  t.equal(
    await rollBackVclGroup(service, context, request),
    false,
    'the agents have not applied it',
  )
  const places = await readPlacements(queries, { groupIds: [groupId] })
  const newest = await queries
    .selectFrom('history')
    .select(['action', 'result', 'revision', 'deployId'])
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  const { revision } = await requireGroup(queries, administrator, groupId)
  const unfinished = await queries.selectFrom('deploys').select('id').execute()
  const changed = await recomposeDesired(
    queries,
    places.map(({ agentId }) => agentId),
  )
  t.strictSame(changed, [], 'the desired states are those of the rows')
  const serving = places.map(({ current, state }) => [current?.name, state])
  return {
    serving,
    newest,
    revision,
    unfinished,
    names: releases.map(({ programName }) => programName),
  }
}

void t.test('a rollback to VCL that all agents hold is decided where it begins', async (t) => {
  const { serving, newest, revision, unfinished, names } = await rollBack(t, 3)
  t.equal(revision, 3)
  t.strictSame(serving, Array(3).fill([names[0], 'applying']))
  t.match(newest, { action: 'rollback', result: 'ok', revision: 3, deployId: null })
  t.strictSame(unfinished, [], 'no deploy waits for a decision')
})

void t.test('a rollback that one agent must load first switches none before', async (t) => {
  const { serving, newest, revision, unfinished, names } = await rollBack(t, 2)
  t.equal(revision, 2)
  t.strictSame(serving, Array(3).fill([names[1], 'applied']))
  t.match(newest, { action: 'deploy', revision: 2 })
  t.equal(unfinished.length, 1)
})
