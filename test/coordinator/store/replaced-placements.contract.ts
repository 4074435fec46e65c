/** Placements that a group takes from others: marked, taken with the switch, or released; and how the fleet shows them meanwhile. */
import type { Test } from 'tap'
import { createPlacement } from '../../../src/coordinator/placement/placing.js'
import { readFleet } from '../../../src/coordinator/fleet/fleet.js'
import { countGroupPlacements } from '../../../src/coordinator/fleet/group-placements.js'
import {
  deletePlacements,
  readPlacements,
  savePlacements,
  type PlacementRecord,
} from '../../../src/coordinator/fleet/placement-queries.js'
import {
  findUnplaced,
  markReplaced,
  readBeingReplaced,
  readReplaceable,
  readReplaced,
  releaseReplaced,
  takeReplaced,
} from '../../../src/coordinator/fleet/replaced-placements.js'
import type { Queries } from '../../../src/coordinator/store/store.js'
import { addAgent, addDeployment, addFile, addGroup } from './rows.js'
import type { StoreFactory } from './store.contract.js'

export function replacedPlacesContract(t: Test, factory: StoreFactory): void {
  void t.test('a place belongs to its group until the taker has switched', async (t) => {
    const store = await factory.open(t)
    const { queries } = store
    const { agents, old, taker } = await prepare(queries)
    const [one = 0, two = 0] = agents
    t.strictSame(
      await readReplaceable(queries, { id: taker.groupId, organizationId: null }),
      new Set([old.groupId]),
    )

    await store.decide(async (queries) => {
      await savePlacements(
        queries,
        agents.map((agentId) => ({ ...old, agentId })),
      )
      await markReplaced(
        queries,
        taker.groupId,
        agents.map((agentId) => ({ agentId, holder: old.groupId })),
      )
      // The old group keeps the name until the switch.
      await savePlacements(
        queries,
        agents.map((agentId) => ({ ...taker, agentId })),
      )
    })
    t.strictSame(await readReplaced(queries, taker.groupId, []), [{ id: old.groupId, name: 'old' }])
    t.strictSame(await readBeingReplaced(queries), [], 'no deploy runs')
    t.equal((await countGroupPlacements(queries, taker)).length, 1)
    const lost = { id: 1, epoch: 1 }
    t.strictSame(await countGroupPlacements(queries, taker, lost), [], 'none without the deploy')
    const [fleet] = await readFleet(queries, { kind: 'all' })
    t.strictSame(fleet?.replacedBy, new Map([[old.groupId, taker.groupId]]))
    t.strictSame(await store.decide(releaseReplaced), [], 'not while it is to be loaded there')

    const switched = {
      ...taker,
      agentId: one,
      current: taker.candidate,
      candidate: null,
      candidateState: null,
    }
    const left = await store.decide(async (queries) => {
      const left = await takeReplaced(queries, taker.groupId, [one])
      await savePlacements(queries, [switched])
      return left
    })
    t.strictSame(left, [old.groupId])
    t.strictSame(await findUnplaced(queries, left), [], 'it has another place')
    t.strictSame(await readHolders(queries), [`${one} ${taker.groupId}`, `${two} ${old.groupId}`])

    await store.decide((queries) => deletePlacements(queries, taker, [two]))
    t.strictSame(await store.decide(releaseReplaced), [two], 'the taker no longer comes')
    const places = await readPlacements(queries, { agentIds: [two] })
    t.match(places, [{ groupId: old.groupId, replacedBy: null, leaving: false }])
    t.strictSame(await readReplaced(queries, taker.groupId, left), [
      { id: old.groupId, name: 'old' },
    ])
  })

  void t.test('a place that leaves an agent that no longer fits undeploys no group', async (t) => {
    const store = await factory.open(t)
    const { queries } = store
    const { agents, old, taker } = await prepare(queries)
    const [agentId = 0] = agents
    await store.decide(async (queries) => {
      await savePlacements(queries, [{ ...old, agentId }])
      await markReplaced(queries, taker.groupId, [{ agentId, holder: old.groupId }], {
        leaving: true,
      })
    })
    t.strictSame(
      await store.decide((queries) => takeReplaced(queries, taker.groupId, [agentId])),
      [],
    )
    t.strictSame(await findUnplaced(queries, [old.groupId]), [old.groupId])
  })
}

/** Two groups that claim one name, and two agents. */
async function prepare(queries: Queries) {
  const file = await addFile(queries, 'main.vcl')
  const deploymentId = await addDeployment(queries, 'web')
  const agents = [await addAgent(queries, 'one'), await addAgent(queries, 'two')]
  const place = async (name: string): Promise<PlacementRecord> => {
    const id = await addGroup(queries, name, file)
    const program = { name: `cf-${id}-aaaaaaaa-1`, sha: 'a'.repeat(64), fqdns: ['a.example'] }
    const group = { id, organizationId: null }
    return createPlacement({ group, agentId: 0, deploymentId, position: 1, revision: 1, program })
  }
  const loading = await place('old')
  const old: PlacementRecord = {
    ...loading,
    current: loading.candidate,
    candidate: null,
    candidateState: null,
  }
  return { agents, old, taker: await place('new') }
}

/** Which group holds the name on which agent. */
async function readHolders(queries: Queries): Promise<string[]> {
  const rows = await queries.selectFrom('placementDomains').select(['agentId', 'groupId']).execute()
  return rows.map(({ agentId, groupId }) => `${agentId} ${groupId}`).toSorted()
}
