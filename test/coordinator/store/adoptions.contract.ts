/** What the store keeps of adoptions and locked caches, for each database: the tag is removed when no deployment asks for it. */
import type { Test } from 'tap'
import {
  addStaticTag,
  releaseAdoptedTags,
  writeAdoption,
  writeAdoptionDifference,
} from '../../../src/coordinator/fleet/adoption-queries.js'
import { readStaticTagNames } from '../../../src/coordinator/fleet/agent-tags.js'
import { findAgent, readAgentDetail } from '../../../src/coordinator/fleet/agent-queries.js'
import { addAgent, addDeployment, addTag } from './rows.js'
import type { StoreFactory } from './store.contract.js'

const record = {
  at: '2026-01-02T03:04:05.678Z',
  result: 'adopted' as const,
  error: null,
  group: { id: 7, name: 'site' },
}
const told = { msg: 'adopted', traceId: 'abcdefgh', at: 5 }

export function adoptionsContract(t: Test, factory: StoreFactory): void {
  void t.test('the tag of an adoption stays while a deployment asks for it', async (t) => {
    const { queries } = await factory.open(t)
    const agents = [await addAgent(queries, 'edge'), await addAgent(queries, 'other')]
    const [edge = 0, other = 0] = agents
    const tag = await addTag(queries, 'adopted-edge')
    const sent = await addTag(queries, 'adopted-sent')
    for (const agent of agents) {
      await addStaticTag(queries, agent, tag)
      await addStaticTag(queries, agent, sent)
    }
    // The other agent sends the tag itself.
    await writeAdoption(queries, edge, { ...record, tag: 'adopted-edge' }, told)
    const deploymentId = await addDeployment(queries, 'edge')
    await queries.insertInto('deploymentTags').values({ deploymentId, tagId: tag }).execute()

    await releaseAdoptedTags(queries, [tag, sent])
    t.same(await readStaticTagNames(queries, edge), ['adopted-edge', 'adopted-sent'])
    await queries.deleteFrom('deploymentTags').execute()
    await releaseAdoptedTags(queries, [tag, sent])
    t.same(await readStaticTagNames(queries, edge), ['adopted-sent'])
    t.equal((await readStaticTagNames(queries, other)).length, 2)
    const agent = await findAgent(queries, { kind: 'all' }, edge)
    t.same(agent?.adoption, { ...record, tag: null }, 'the tag is not assigned again')
  })

  void t.test('an adoption written by an earlier version names no group', async (t) => {
    const { queries } = await factory.open(t)
    const id = await addAgent(queries, 'edge')
    const { group, ...earlier } = { ...record, tag: 'adopted-edge' }
    const adoption = JSON.stringify(earlier)
    await queries.updateTable('agents').set({ adoption }).execute()
    const agent = await findAgent(queries, { kind: 'all' }, id)
    t.same(agent?.adoption, { ...earlier, group: null })
    t.equal(group.id, 7)

    t.same(await readAgentDetail(queries, id), { adoptionDifference: null, held: null })
    await writeAdoptionDifference(queries, id, '-live\n+other\n')
    t.match(await readAgentDetail(queries, id), { adoptionDifference: '-live\n+other\n' })
  })
}
