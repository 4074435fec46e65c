/** `deploy?replace=true`: plans, refusals, and the reported groups that are replaced. */
import t from 'tap'
import { readDeploys } from '../../../src/coordinator/fleet/deploy-queries.js'
import { findGroup } from '../../../src/coordinator/fleet/group-queries.js'
import { readPlacements } from '../../../src/coordinator/fleet/placement-queries.js'
import { agentStates } from '../../../src/resources/agent-state.js'
import { eventually } from '../../support/eventually.js'
import { startClient } from './client.js'
import { placeGroup } from './placed-group.js'

void t.test('a deploy with replace=true takes places of another group', async (t) => {
  const client = await startClient(t)
  const { agentIds, group } = await placeGroup(client, ['edge-1', 'edge-2'])
  const [agentId = 0] = agentIds
  const tag = await client.expect(201, 'POST', '/tags', { name: 'one' })
  const { tags } = await client.expect(200, 'GET', `/agents/${agentId}`)
  const both = [...(tags as { readonly id: number }[]).map(({ id }) => ({ id })), { id: tag['id'] }]
  await client.expect(200, 'PUT', `/agents/${agentId}`, { tags: both })
  const deployment = { name: 'one', min: 1, max: 1, tags: [{ id: tag['id'] }] }
  const { id: deploymentId } = await client.expect(201, 'POST', '/deployments', deployment)
  const file = await client.expect(201, 'POST', '/vcls', { name: 'other.vcl', source: 'vcl 4.1;' })
  const other = await client.expect(201, 'POST', '/vclgroups', {
    name: 'other',
    mainVCL: { id: file['id'] },
    deployments: [{ id: deploymentId }],
  })
  const at = `/vclgroups/${String(other['id'])}`

  t.match(await client.expect(409, 'PUT', `${at}/deploy?wait=0`), {
    errorMsg:
      /other groups hold the agents it would need: group "site" holds agent "edge-1"; \?replace=true takes their places$/,
  })
  const { queries } = client.service.store
  const give = (organizationId: number | null) =>
    queries
      .updateTable('vclGroups')
      .set({ organizationId })
      .where('id', '=', Number(group['id']))
      .execute()
  const { id: shop } = await client.expect(201, 'POST', '/organizations', { name: 'shop' })
  await give(Number(shop))
  t.match(
    await client.expect(409, 'PUT', `${at}/deploy?wait=0`),
    { errorMsg: /another group holds agent "edge-1"$/ },
    'replace=true is proposed only when it would help',
  )
  await give(null)

  const planned = { id: other['id'], name: 'other', domains: [], deployments: ['one'] }
  const plan = await client.expect(200, 'POST', '/vclgroups/placement', {
    groups: [{ ...planned, replace: true }],
    deployments: [{ ...deployment, id: deploymentId }],
  })
  const replaces = [{ id: group['id'], name: 'site' }]
  t.match(plan, { groups: [{ shortage: null, agents: [{ agent: { id: agentId }, replaces }] }] })
  t.match(await client.expect(400, 'PUT', `${at}/deploy?force=true`), { errorMsg: /replace=true/ })
  t.match(await client.expect(409, 'PUT', `${at}/deploy?wait=0&replace=true`), {
    errorMsg: /would leave group "site" below min; \?force=true/,
  })
  const places = () => readPlacements(queries, { agentIds: [agentId] })
  t.match(await places(), [{ groupId: group['id'], replacedBy: null }], 'nothing was stored')

  await client.expect(202, 'PUT', `${at}/deploy?wait=0&replace=true&force=true`)
  t.match(await places(), [
    { groupId: group['id'], replacedBy: other['id'] },
    { groupId: other['id'], candidateState: 'pending' },
  ])
  const third = await client.expect(201, 'POST', '/vclgroups', {
    name: 'third',
    mainVCL: { id: file['id'] },
    deployments: [{ id: deploymentId }],
  })
  const meanwhile = `/vclgroups/${String(third['id'])}/deploy?wait=0&replace=true`
  t.match(await client.expect(409, 'PUT', meanwhile), { errorMsg: /a deploy is changing group/ })
  const undeploy = `/vclgroups/${String(group['id'])}/undeploy?wait=0`
  t.match(await client.expect(409, 'PUT', undeploy), { errorMsg: /in progress/ }, 'nor undeployed')

  await queries
    .updateTable('agents')
    .set({ state: agentStates.Down })
    .where('id', '=', agentId)
    .execute()
  const replacing = Number(other['id'])
  await eventually(
    'the deploy ends without its agent',
    async () => (await readDeploys(queries, [replacing])).length === 0,
  )
  t.match(await places(), [{ groupId: group['id'], replacedBy: null }], 'the replaced group stays')
  const left = await findGroup(queries, { kind: 'all' }, replacing)
  t.equal(left?.desiredRelease, null, 'nothing is pending, because no group would yield to it')
})
