/** Groups of the console in the store: what is hidden for them. */
import type { Test } from 'tap'
import {
  replaceAssignedTags,
  keepTags,
  readTagsOfAgent,
} from '../../../src/coordinator/fleet/agent-tags.js'
import {
  insertConsoleGroup,
  readConsoleGroups,
  updateConsoleGroup,
} from '../../../src/coordinator/console/groups/group-queries.js'
import type { WishedSources } from '../../../src/coordinator/fleet/vcl-group.js'
import { addHistory } from '../../../src/coordinator/fleet/history-queries.js'
import { selectDeployments } from '../../../src/coordinator/fleet/deployment-queries.js'
import {
  deleteMember,
  insertMember,
  readAgentsOfGroups,
  readGroupsOfAgents,
} from '../../../src/coordinator/fleet/group-members.js'
import { selectTags } from '../../../src/coordinator/fleet/tag-queries.js'
import { deleteGroup, findGroup, writeWish } from '../../../src/coordinator/fleet/group-queries.js'
import { addAgent, addFile, addOrganization, addPlacement } from './rows.js'
import type { StoreFactory } from './store.contract.js'

const all = { kind: 'all' } as const

export function consoleGroupsContract(t: Test, factory: StoreFactory): void {
  void t.test('a group of the console has members, and goes with all that it has', async (t) => {
    const store = await factory.open(t)
    const { queries } = store
    const red = await addOrganization(queries, 'red')
    const [one, two] = [await addAgent(queries, 'one'), await addAgent(queries, 'two')]
    const fields = { name: 'bb', description: 'b', overviewGroup: true }
    const make = (organizationId: number | null) =>
      store.transaction((inside) =>
        insertConsoleGroup(inside, { organizationId, cacheKey: 'k' }, fields, 1),
      )
    const [own, reds] = [await make(null), await make(red)]
    const organization = { kind: 'organization', organizationId: red } as const
    const listed = await readConsoleGroups(queries, organization)
    t.match(listed, [
      { id: reds, ...fields, console: true, mainFileId: null, deployedCommit: null },
    ])

    for (const id of [one, two, one]) await insertMember(queries, own, id)
    t.same(
      await readAgentsOfGroups(queries, [own, reds]),
      new Map([
        [own, [one, two]],
        [reds, []],
      ]),
    )
    const group = { id: own, name: 'bb', organizationId: null, console: true }
    t.same(await readGroupsOfAgents(queries, [one]), new Map([[one, group]]))
    t.equal(await deleteMember(queries, reds, two), false)
    t.equal(await deleteMember(queries, own, two), true)

    await updateConsoleGroup(queries, own, { ...fields, name: 'cc' }, 2)
    t.match(await readConsoleGroups(queries, all, { id: own }), [{ name: 'cc', updatedAt: 2 }])
    await store.transaction((inside) => deleteGroup(inside, own))
    t.same(await readGroupsOfAgents(queries, [one]), new Map())
    t.same(
      (await queries.selectFrom('tags').select('groupId').execute()).map(({ groupId }) => groupId),
      [reds],
    )
  })

  void t.test('a deploy that waits for caches is not what was deployed', async (t) => {
    const store = await factory.open(t)
    const { queries } = store
    const file = await addFile(queries, 'a.vcl')
    const keys = { organizationId: null, cacheKey: 'k' }
    const fields = { name: 'bb', description: '', overviewGroup: false }
    const id = await store.transaction((inside) => insertConsoleGroup(inside, keys, fields, 1))
    const sourcesOf = (version: number): WishedSources => ({
      ...{ mainVCL: { id: file, name: 'a.vcl', version }, includes: [], domains: [] },
      ...{ sha: String(version), programName: `cf-${version}`, deploymentIds: [] },
    })
    const read = async () => (await readConsoleGroups(queries, all, { id }))[0]
    const past = { groupId: id, organizationId: null, at: 1, account: 'root', result: 'ok' }
    for (const action of ['deploy', 'undeploy'] as const)
      await addHistory(queries, { ...past, action, revision: 1, sources: sourcesOf(1) })
    await writeWish(queries, id, { sources: sourcesOf(2), pending: true, revision: 1 })
    t.match(await read(), { deployedCommit: null, wishedFileId: file })

    const deployment = await queries
      .selectFrom('deployments')
      .select('id')
      .executeTakeFirstOrThrow()
    await addPlacement(queries, id, await addAgent(queries, 'one'), deployment.id)
    t.match(await read(), { deployedCommit: null }, 'nothing serves there')
    await queries.updateTable('placements').set({ currentName: 'cf-1', currentSha: '1' }).execute()
    t.match(await read(), { deployedCommit: { fileId: file, version: 1 }, wishedFileId: file })
    await writeWish(queries, id, { sources: sourcesOf(2), pending: false, revision: 2 })
    t.match(await read(), { deployedCommit: { fileId: file, version: 2 } })
  })

  void t.test("people's tags and deployments are apart from hidden ones", async (t) => {
    const store = await factory.open(t)
    const { queries } = store
    const agent = await addAgent(queries, 'one')
    const fields = { name: 'bb', description: '', overviewGroup: false }
    const keys = { organizationId: null, cacheKey: 'k' }
    const group = await store.transaction((inside) => insertConsoleGroup(inside, keys, fields, 1))
    await insertMember(queries, group, agent)
    const hidden = await queries.selectFrom('tags').selectAll().executeTakeFirstOrThrow()

    const [same = 0] = await keepTags(queries, null, [hidden.name], 2)
    t.not(same, hidden.id, 'its name is free')
    await replaceAssignedTags(queries, agent, [same])
    t.same(
      (await readTagsOfAgent(queries, agent)).map(({ id }) => id),
      [same],
    )
    await replaceAssignedTags(queries, agent, [])
    t.same(await readTagsOfAgent(queries, agent), [])
    t.same(
      [...(await readGroupsOfAgents(queries, [agent])).keys()],
      [agent],
      'it stays in the group',
    )
    t.same(
      (await selectTags(queries, all).execute()).map(({ id }) => id),
      [same],
    )
    t.same(await selectDeployments(queries, all).execute(), [])
    const asked = (await findGroup(queries, all, group))?.deployments
    t.equal(asked?.length, 1, 'placement has it')
    await queries.deleteFrom('changes').execute()
    await store.transaction((inside) => deleteGroup(inside, group))
    const changes = await queries.selectFrom('changes').select(['kind', 'deleted']).execute()
    t.same(
      changes.filter(({ kind, deleted }) => kind === 'deployment' && deleted === 1),
      [],
    )
  })
}
