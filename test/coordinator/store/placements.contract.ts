/** Placements are written in sets where they change alike; run for each database. */
import fc from 'fast-check'
import type { Test } from 'tap'
import { createPlacement } from '../../../src/coordinator/placement/placing.js'
import {
  readPlacements,
  readWith,
  savePlacements,
  type PlacementRecord,
} from '../../../src/coordinator/fleet/placement-queries.js'
import { countGroupPlacements } from '../../../src/coordinator/fleet/group-placements.js'
import type { Queries } from '../../../src/coordinator/store/store.js'
import { isUniqueViolation } from '../../../src/coordinator/store/violation.js'
import { addAgent, addDeployment, addFile, addGroup } from './rows.js'
import type { StoreFactory } from './store.contract.js'

export function placementsContract(t: Test, factory: StoreFactory): void {
  void t.test('what changed is written as whole rows would be, with the names', async (t) => {
    const store = await factory.open(t)
    const { queries } = store
    const { groupId, agents } = await prepare(queries, 30)
    await fc.assert(
      fc.asyncProperty(roundOf(agents.length), async ({ changes, choice, known }) => {
        const before = await readPlacements(queries, { groupIds: [groupId] })
        const after = agents.map((agent, at) => ({ ...agent, ...changes[choice[at] ?? 0] }))
        await store.decide((inside) =>
          savePlacements(
            inside,
            after,
            before.filter((_, at) => known[at]),
          ),
        )
        t.strictSame(await readPlacements(queries, { groupIds: [groupId] }), after)
        t.strictSame(await readNames(queries), after.flatMap(listClaims).toSorted())
      }),
      { numRuns: 25 },
    )
  })

  void t.test(
    'with what is known of one holder, all placements of agents are the same',
    async (t) => {
      const store = await factory.open(t)
      const { queries } = store
      const { groupId, other, agents } = await prepare(queries, 12)
      const others = agents
        .slice(0, 5)
        .map((place) => ({ ...place, groupId: other, current: null }))
      const staged = agents.slice(3, 9).map((place) => ({ ...place, stage: true }))
      const saved = [...agents, ...others, ...staged].map((place) => ({
        ...place,
        candidate: null,
      }))
      await store.decide((inside) => savePlacements(inside, saved))
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(groupId, other),
          fc.boolean(),
          fc.shuffledSubarray(agents.map(({ agentId }) => agentId)),
          async (groupId, stage, agentIds) => {
            const placements = await readPlacements(queries, { groupIds: [groupId], stage })
            const read = readWith({ groupId, stage, placements })
            t.strictSame(await read(queries, agentIds), await readPlacements(queries, { agentIds }))
          },
        ),
        { numRuns: 25 },
      )
    },
  )

  void t.test('a placement that stays as it was is not written', async (t) => {
    const store = await factory.open(t)
    const { queries } = store
    const { agents } = await prepare(queries, 20)
    const served = agents.map((agent) => ({ ...agent, state: 'applied' as const }))
    await store.decide((inside) => savePlacements(inside, served))
    await queries.deleteFrom('changes').execute()
    const [one, ...others] = served
    const changed = others.map((place) => ({ ...place, state: 'applying' as const }))
    await store.decide((inside) =>
      savePlacements(inside, [...(one ? [one] : []), ...changed], served),
    )
    t.equal((await queries.selectFrom('changes').select('id').execute()).length, others.length)
  })

  void t.test('placements are counted alike, however many at once', async (t) => {
    const store = await factory.open(t)
    const { queries } = store
    const { agents, groupId } = await prepare(queries, 30)
    const states = ['wanted', 'applying', 'applied'] as const
    const placed = agents.map((place, at) => ({ ...place, state: states[at % 3] ?? 'wanted' }))
    await store.decide((inside) => savePlacements(inside, placed))
    const holder = { groupId, stage: false }
    for (const most of [1, 7, 29, 30, 31, 1000]) {
      const counts = await countGroupPlacements(queries, holder, undefined, most)
      const countOf = (state: string) =>
        counts.reduce((sum, alike) => sum + (alike.state === state ? alike.count : 0), 0)
      t.strictSame(states.map(countOf), [10, 10, 10], `${most} at once`)
    }
    t.strictSame(await countGroupPlacements(queries, { groupId, stage: true }), [])
  })

  void t.test('a name of another group is refused, however many are saved', async (t) => {
    const store = await factory.open(t)
    const { queries } = store
    const { agents, other } = await prepare(queries, 12)
    const root = agents.map((agent) => ({ ...agent, candidate: programs.root }))
    await store.decide((inside) => savePlacements(inside, root))
    const [first] = agents
    if (!first) throw new Error('no agent was made')
    await store.decide((inside) =>
      savePlacements(inside, [{ ...first, groupId: other, candidate: programs.two }]),
    )
    const named = agents.map((agent) => ({ ...agent, candidate: programs.one }))
    const error: unknown = await store
      .decide((inside) => savePlacements(inside, named, root))
      .catch((error: unknown) => error)
    t.ok(isUniqueViolation(error))
    t.strictSame(await readNames(queries), [
      `${first.agentId} a.example`,
      `${first.agentId} b.example`,
    ])
  })
}

const sha = 'a'.repeat(64)
const programs = {
  root: { name: 'cf-1-root-1', sha, fqdns: null },
  one: { name: 'cf-1-one-1', sha, fqdns: ['a.example'] },
  two: { name: 'cf-1-two-1', sha, fqdns: ['a.example', 'b.example'] },
}

const program = fc.constantFrom(null, programs.one, programs.two)

/** A few changes, one of which each placement takes; `known`: whose rows are given as they were. */
function roundOf(count: number) {
  const change = fc.record({
    state: fc.constantFrom<PlacementRecord['state']>('wanted', 'applying', 'applied', 'failed'),
    wantedRevision: fc.integer({ min: 1, max: 3 }),
    appliedRevision: fc.constantFrom(null, 1, 2),
    current: program,
    candidate: program,
    previous: program,
    candidateState: fc.constantFrom<PlacementRecord['candidateState']>(null, 'pending', 'loaded'),
    error: fc.constantFrom(null, 'it failed', 'Ünïcode \u{1f980}'),
    leaving: fc.boolean(),
  })
  return fc.record({
    changes: fc.array(change, { minLength: 1, maxLength: 3 }).map(repeatToThree),
    choice: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: count, maxLength: count }),
    known: fc.array(fc.boolean(), { minLength: count, maxLength: count }),
  })
}

function repeatToThree<T>(items: readonly T[]): T[] {
  return [0, 1, 2].flatMap((at) => items.slice(at % items.length, (at % items.length) + 1))
}

async function prepare(queries: Queries, count: number) {
  const file = await addFile(queries, 'main')
  const groupId = await addGroup(queries, 'site', file)
  const other = await addGroup(queries, 'other', file)
  const deploymentId = await addDeployment(queries, 'web')
  const agents: PlacementRecord[] = []
  for (let position = 1; position <= count; position++) {
    const agentId = await addAgent(queries, `edge-${position}`)
    const group = { id: groupId, organizationId: null }
    const place = { group, agentId, deploymentId, position, revision: 1, program: programs.one }
    agents.push(createPlacement(place))
  }
  return { groupId, other, agents }
}

function listClaims({ agentId, current, candidate }: PlacementRecord): string[] {
  const names = new Set([...(current?.fqdns ?? []), ...(candidate?.fqdns ?? [])])
  return [...names].map((name) => `${agentId} ${name}`)
}

async function readNames(queries: Queries): Promise<string[]> {
  const rows = await queries.selectFrom('placementDomains').select(['agentId', 'fqdn']).execute()
  return rows.map(({ agentId, fqdn }) => `${agentId} ${fqdn}`).toSorted()
}
