/** Stages, for each database: placements beside those of their groups, names that both claim, and references. */
import type { Test } from 'tap'
import type { PlacedProgram } from '../../../src/vcl/desired-engine.js'
import { noDeployment } from '../../../src/coordinator/fleet/placement-input.js'
import type { StagedSources } from '../../../src/coordinator/fleet/stage.js'
import { createPlacement } from '../../../src/coordinator/placement/placing.js'
import { readFleet } from '../../../src/coordinator/fleet/fleet.js'
import {
  countGroupPlacements,
  readGroupPlacements,
} from '../../../src/coordinator/fleet/group-placements.js'
import { readOtherHolders } from '../../../src/coordinator/fleet/placement-domains.js'
import {
  deletePlacements,
  readPlacements,
  savePlacements,
  type PlacementRecord,
} from '../../../src/coordinator/fleet/placement-queries.js'
import {
  deleteUnusedSources,
  findSource,
  keepSource,
} from '../../../src/coordinator/fleet/sources.js'
import {
  deleteStage,
  findStage,
  readStages,
  writeStage,
} from '../../../src/coordinator/fleet/stage-queries.js'
import {
  groupColumns,
  readGroups,
  selectGroupIds,
} from '../../../src/coordinator/fleet/group-queries.js'
import { readUsingGroups } from '../../../src/coordinator/fleet/using-groups.js'
import { filterCondition } from '../../../src/coordinator/store/list-query.js'
import type { Queries } from '../../../src/coordinator/store/store.js'
import {
  isForeignKeyViolation,
  isUniqueViolation,
} from '../../../src/coordinator/store/violation.js'
import { addAgent, addDeploy, addDeployment, addFile, addGroup, addTag } from './rows.js'
import type { StoreFactory } from './store.contract.js'

async function prepare({ queries }: { readonly queries: Queries }) {
  const file = await addFile(queries, 'main')
  const group = await addGroup(queries, 'site', file)
  const other = await addGroup(queries, 'other', file)
  const agentId = await addAgent(queries, 'edge')
  const deploymentId = await addDeployment(queries, 'web')
  const place = (
    groupId: number,
    stage: boolean,
    fqdns: PlacedProgram['fqdns'],
  ): PlacementRecord => ({
    ...createPlacement({
      group: { id: groupId, organizationId: null },
      agentId,
      position: 1,
      revision: 1,
      stage,
      deploymentId: stage ? noDeployment : deploymentId,
      program: { name: `cf-${groupId}-${stage ? 's' : 'l'}`, sha: 'a'.repeat(64), fqdns },
    }),
  })
  return { file, group, other, agentId, place }
}

const sourcesOf = (tagId: number, fileId: number, sha = 'b'.repeat(64)): StagedSources => ({
  mainVCL: { id: fileId, version: 1, name: 'main' },
  includes: [],
  releases: null,
  deploymentIds: [],
  domains: [],
  sha,
  programName: 'cf-1-x',
  stage: { tagIds: [tagId], ownDomains: false, mainFileVersion: null },
})

export function stagesContract(t: Test, factory: StoreFactory): void {
  void t.test('a group and its stage have placements side by side', async (t) => {
    const store = await factory.open(t)
    const { queries } = store
    const { group, agentId, place } = await prepare({ queries })
    const [own, staged] = [place(group, false, ['a.example']), place(group, true, ['b.example'])]
    await store.decide((queries) => savePlacements(queries, [own, staged]))

    t.strictSame(await readPlacements(queries, { groupIds: [group] }), [own, staged])
    t.strictSame(await readPlacements(queries, { groupIds: [group], stage: true }), [staged])
    t.strictSame(await readPlacements(queries, { agentIds: [agentId], stage: false }), [own])
    t.equal((await readGroupPlacements(queries, [group])).length, 1)
    t.equal((await readGroupPlacements(queries, [group], { withStages: true })).length, 2)
    const [alike] = await countGroupPlacements(queries, { groupId: group, stage: true })
    t.match(alike, { deploymentId: noDeployment, count: 1, candidateState: 'pending' })
    const [agent] = await readFleet(queries, { kind: 'all' })
    t.match(agent, { groupIds: [group, -group], rootGroupId: null })
    const holders = (stage: boolean) =>
      readOtherHolders(queries, { groupId: group, stage }, ['a.example', 'b.example'])
    t.strictSame(await holders(false), [{ agentId, fqdn: 'b.example', groupId: -group }])
    t.strictSame(await holders(true), [{ agentId, fqdn: 'a.example', groupId: group }])

    await store.decide((queries) =>
      deletePlacements(queries, { groupId: group, stage: false }, [agentId]),
    )
    t.strictSame(await readPlacements(queries, { groupIds: [group] }), [staged])
    t.strictSame(await holders(false), [{ agentId, fqdn: 'b.example', groupId: -group }])
  })

  void t.test('only the taker of a replaced place takes over its domains', async (t) => {
    const store = await factory.open(t)
    const { queries } = store
    const { group, other, agentId, place } = await prepare({ queries })
    const own = place(group, false, ['a.example'])
    const staged = { ...place(group, true, ['a.example']), replacedBy: group }
    const holderOf = async () =>
      queries.selectFrom('placementDomains').select(['groupId', 'stage', 'fqdn']).execute()
    await store.decide((queries) => savePlacements(queries, [staged]))
    await store.decide((queries) => savePlacements(queries, [own]))
    await store.decide((queries) => savePlacements(queries, [own, staged]))
    t.strictSame(await holderOf(), [{ groupId: group, stage: 1, fqdn: 'a.example' }])
    for (const stage of [false, true]) {
      const taken = store.decide((queries) =>
        savePlacements(queries, [place(other, stage, ['a.example'])]),
      )
      t.ok(isUniqueViolation(await taken.catch((error: unknown) => error)))
    }

    await store.decide(async (queries) => {
      await deletePlacements(queries, { groupId: group, stage: true }, [agentId])
      await savePlacements(queries, [own])
    })
    t.strictSame(await holderOf(), [{ groupId: group, stage: 0, fqdn: 'a.example' }])
    const late = store.decide((queries) => savePlacements(queries, [staged]))
    t.ok(isUniqueViolation(await late.catch((error: unknown) => error)), 'not the other way')
  })

  void t.test('a stage is kept whole, replaced, and deleted', async (t) => {
    const store = await factory.open(t)
    const { queries } = store
    const { group, file } = await prepare({ queries })
    const [first, second] = [await addTag(queries, 'first'), await addTag(queries, 'second')]
    const staged = { groupId: group, organizationId: null, revision: 1 }
    const sources = sourcesOf(first, file)
    const text = { sha: sources.sha, text: 'vcl 4.1;', sourceMap: { files: [], segments: [] } }
    await keepSource(queries, text, 1)
    await store.decide((queries) => writeStage(queries, { ...staged, sources }, 1))
    t.strictSame(await findStage(queries, group), { ...staged, sources })
    await store.decide(deleteUnusedSources)
    t.ok(await findSource(queries, sources.sha), 'its text is in use')
    t.strictSame(await readUsingGroups(queries, ['stageUses.tagId'], first, 5), ['site'])
    const refused = queries.deleteFrom('tags').where('id', '=', first).execute()
    t.ok(isForeignKeyViolation(await refused.catch((error: unknown) => error)))

    const anew = { ...staged, revision: 2, sources: sourcesOf(second, file) }
    await store.decide((queries) => writeStage(queries, anew, 2))
    t.strictSame(await readStages(queries), [anew])
    await queries.deleteFrom('tags').where('id', '=', first).execute()
    t.strictSame(await readUsingGroups(queries, ['stageUses.tagId'], second, 5), ['site'])

    await store.decide((queries) => deleteStage(queries, group))
    t.strictSame(await readStages(queries, [group]), [])
    await store.decide(deleteUnusedSources)
    t.equal(await findSource(queries, sources.sha), undefined)
    await queries.deleteFrom('tags').where('id', '=', second).execute()
  })
  void t.test('a group is deployed from its first deploy on, but not by its stage', async (t) => {
    const { queries } = await factory.open(t)
    const file = await addFile(queries, 'main')
    const [idle, staging, first] = [
      await addGroup(queries, 'idle', file),
      await addGroup(queries, 'staging', file),
      await addGroup(queries, 'first', file),
    ]
    await addDeploy(queries, { groupId: staging, action: 'stage' })
    await addDeploy(queries, { groupId: first })

    const groups = await readGroups(queries, { kind: 'all' }, { ids: [idle, staging, first] })
    t.strictSame(
      groups.map(({ name, deployed, deploying }) => ({ name, deployed, deploying })),
      [
        { name: 'idle', deployed: false, deploying: false },
        { name: 'staging', deployed: false, deploying: false },
        { name: 'first', deployed: false, deploying: true },
      ],
    )
    const filters = [{ field: 'deployed', anyOf: [['true'] as const] }]
    const listed = selectGroupIds(queries, { kind: 'all' })
      .where(filterCondition(filters, groupColumns))
      .execute()
    t.strictSame(await listed, [{ id: first }], 'a list filters by the same')
  })
}
