/** A deployed group, created as rows: no agent has a link here. */
import { createPlacement } from '../../../src/coordinator/placement/placing.js'
import { savePlacements } from '../../../src/coordinator/fleet/placement-queries.js'
import { writeDesiredRelease } from '../../../src/coordinator/fleet/group-queries.js'
import { enrol, type Client, type Json } from './client.js'

export interface Placed {
  readonly agentIds: readonly number[]
  readonly deployment: Json
  readonly group: Json
}

/** Creates a deployed group placed on each of these agents, as after a deploy; min is their number. */
export async function placeGroup(
  client: Pick<Client, 'service' | 'expect'>,
  names: readonly string[],
): Promise<Placed> {
  const tag = await client.expect(201, 'POST', '/tags', { name: 'web' })
  const agentIds: number[] = []
  for (const name of names) {
    const id = await enrol(client, name)
    await client.expect(200, 'PUT', `/agents/${id}`, { tags: [{ id: tag['id'] }] })
    agentIds.push(id)
  }
  const file = await client.expect(201, 'POST', '/vcls', { name: 'main.vcl', source: 'vcl 4.1;' })
  const deployment = await client.expect(201, 'POST', '/deployments', {
    name: 'web',
    min: names.length,
    max: names.length,
    tags: [{ id: tag['id'] }],
  })
  const group = await client.expect(201, 'POST', '/vclgroups', {
    name: 'site',
    mainVCL: { id: file['id'] },
    deployments: [{ id: deployment['id'] }],
  })
  const groupId = Number(group['id'])
  const program = { name: `cf-${groupId}-01234567-1`, sha: '0'.repeat(64), fqdns: null }
  await client.service.store.decide(async (queries) => {
    const sources = {
      mainVCL: { id: 1, version: 1, name: 'main.vcl' },
      includes: [],
      releases: null,
    }
    await writeDesiredRelease(queries, groupId, {
      sources: {
        ...sources,
        sha: program.sha,
        programName: program.name,
        deploymentIds: [Number(deployment['id'])],
        domains: [],
      },
      pending: false,
      revision: 1,
    })
    await savePlacements(
      queries,
      agentIds.map((agentId, position) => ({
        ...createPlacement({
          group: { id: groupId, organizationId: null },
          agentId,
          deploymentId: Number(deployment['id']),
          position,
          revision: 1,
          program,
        }),
        state: 'applied' as const,
        appliedRevision: 1,
        current: program,
        candidate: null,
        candidateState: null,
      })),
    )
  })
  return { agentIds, deployment, group }
}
