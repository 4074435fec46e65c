/** Groups of the console in the store, and the agents that are their members. */
import type { Test } from 'tap'
import { replaceAssignedTags, keepTags } from '../../../src/coordinator/fleet/agent-tags.js'
import {
  insertConsoleGroup,
  readConsoleGroups,
  updateConsoleGroup,
} from '../../../src/coordinator/console/groups/group-queries.js'
import type { Release } from '../../../src/coordinator/fleet/vcl-group.js'
import { addHistory } from '../../../src/coordinator/fleet/history-queries.js'
import { readFleet } from '../../../src/coordinator/fleet/fleet.js'
import {
  deleteMember,
  insertMember,
  readAgentsOfGroups,
  readGroupsOfAgents,
} from '../../../src/coordinator/fleet/group-members.js'
import { readDeploymentsOfGroup } from '../../../src/coordinator/fleet/target-queries.js'
import { isUniqueViolation } from '../../../src/coordinator/store/violation.js'
import { deleteGroup, writeDesiredRelease } from '../../../src/coordinator/fleet/group-queries.js'
import { addAgent, addFile, addOrganization, addPlacement } from './rows.js'
import type { StoreFactory } from './store.contract.js'

const all = { kind: 'all' } as const

export function consoleGroupsContract(t: Test, factory: StoreFactory): void {
  void t.test('a console group has members, and is deleted with all that it has', async (t) => {
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

    for (const id of [one, two]) await insertMember(queries, own, id)
    const refused = await insertMember(queries, reds, one).catch((error: unknown) => error)
    t.ok(isUniqueViolation(refused), 'an agent is in one group at most')
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
    t.same(await queries.selectFrom('groupMembers').selectAll().execute(), [])
  })

  void t.test('a deploy that waits for caches does not count as deployed', async (t) => {
    const store = await factory.open(t)
    const { queries } = store
    const file = await addFile(queries, 'a.vcl')
    const keys = { organizationId: null, cacheKey: 'k' }
    const fields = { name: 'bb', description: '', overviewGroup: false }
    const id = await store.transaction((inside) => insertConsoleGroup(inside, keys, fields, 1))
    const sourcesOf = (version: number): Release => ({
      mainVCL: { id: file, name: 'a.vcl', version },
      includes: [],
      releases: null,
      domains: [],
      sha: String(version),
      programName: `cf-${version}`,
      deploymentIds: [],
    })
    const read = async () => (await readConsoleGroups(queries, all, { id }))[0]
    const past = { groupId: id, organizationId: null, at: 1, account: 'root', result: 'ok' }
    for (const action of ['deploy', 'undeploy'] as const)
      await addHistory(queries, { ...past, action, revision: 1, sources: sourcesOf(1) })
    await writeDesiredRelease(queries, id, { sources: sourcesOf(2), pending: true, revision: 1 })
    t.match(await read(), { deployedCommit: null, desiredFileId: file })

    await addPlacement(queries, id, await addAgent(queries, 'one'), null)
    t.match(await read(), { deployedCommit: null }, 'nothing serves there')
    await queries.updateTable('placements').set({ currentName: 'cf-1', currentSha: '1' }).execute()
    t.match(await read(), { deployedCommit: { fileId: file, version: 1 }, desiredFileId: file })
    await writeDesiredRelease(queries, id, { sources: sourcesOf(2), pending: false, revision: 2 })
    t.match(await read(), { deployedCommit: { fileId: file, version: 2 } })
  })

  void t.test('tags are separate from members, and a group creates none', async (t) => {
    const store = await factory.open(t)
    const { queries } = store
    const agent = await addAgent(queries, 'one')
    const fields = { name: 'bb', description: '', overviewGroup: false }
    const keys = { organizationId: null, cacheKey: 'k' }
    const group = await store.transaction((inside) => insertConsoleGroup(inside, keys, fields, 1))
    await queries.deleteFrom('changes').execute()
    await insertMember(queries, group, agent)
    t.match(await queries.selectFrom('changes').selectAll().execute(), [{ kind: 'agent' }])

    t.same(await queries.selectFrom('tags').selectAll().execute(), [])
    const [tag = 0] = await keepTags(queries, null, ['edge'], 2)
    await replaceAssignedTags(queries, agent, [tag])
    await replaceAssignedTags(queries, agent, [])
    t.same(
      [...(await readGroupsOfAgents(queries, [agent])).keys()],
      [agent],
      'it stays in the group',
    )
    const [asked] = await readDeploymentsOfGroup(queries, group, [])
    const target = { kind: 'members', agentIds: new Set([agent]) }
    t.strictSame(asked, { id: 0, name: null, min: 1, max: Number.MAX_SAFE_INTEGER, target })
    t.match(await readFleet(queries, all), [{ id: agent, tagIds: [], memberOf: group }])
  })
}
