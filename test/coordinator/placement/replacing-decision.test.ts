/** Properties of replacing: placement, and the desired state of a cache. */
import fc from 'fast-check'
import t from 'tap'
import {
  composeDesired,
  composeNextRouting,
  composeRouting,
  idleVclName,
  type PlacedProgram,
  type PlacedPrograms,
} from '../../../src/vcl/desired-engine.js'
import { placeGroup } from '../../../src/coordinator/placement/placement.js'
import type { Place } from '../../../src/coordinator/fleet/placement-input.js'
import { placementWorlds, type PlacementWorld } from '../../support/arbitraries.js'
import { agentIds, agentsOf, chosenOf, isAskedFor, runs, toInput } from './placement-world.js'

/** Worlds in which the group may replace some of the groups on the agents. */
const replacingWorlds = fc
  .tuple(placementWorlds, fc.infiniteStream(fc.boolean()))
  .map(([world, flags]) => {
    const others = new Set(world.agents.flatMap(({ groupIds }) => groupIds))
    others.delete(world.group.id)
    const replaces = new Set([...others].filter(() => flags.next().value === true))
    return { world, replaces }
  })

const inputOf = (world: PlacementWorld, replaces: ReadonlySet<number>) => {
  const input = toInput(world)
  return { ...input, group: { ...input.group, replaces } }
}

void t.test('a group that replaces others', async (t) => {
  await t.test('its agents hold no conflicting group but those it replaces', (t) => {
    const property = fc.property(replacingWorlds, ({ world, replaces }) => {
      const decision = placeGroup(inputOf(world, replaces))
      for (const agent of agentsOf(world, chosenOf(decision))) {
        const gone = decision.replaced.filter(({ agentId }) => agentId === agent.id)
        if (!gone.every(({ holder }) => replaces.has(holder))) throw new Error('took too much')
        const left = agent.groupIds.filter(
          (id) => id !== world.group.id && !gone.some(({ holder }) => holder === id),
        )
        if (world.group.root && left.length > 0) throw new Error('not alone')
        if (agent.rootGroupId !== null && left.includes(agent.rootGroupId))
          throw new Error('two roots')
      }
      const chosen = agentIds(chosenOf(decision))
      if (!decision.replaced.every(({ agentId }) => chosen.includes(agentId)))
        throw new Error('not chosen')
      if (!chosenOf(decision).every((place: Place) => isAskedFor(world, place)))
        throw new Error('does not fit')
    })
    fc.assert(property, runs)
    t.end()
  })

  await t.test(
    'the group misses no more agents than without replacing, and takes free ones first',
    (t) => {
      const property = fc.property(replacingWorlds, ({ world, replaces }) => {
        const without = placeGroup(toInput(world))
        const decision = placeGroup(inputOf(world, replaces))
        const missing = ({ shortages }: typeof decision) =>
          shortages.reduce((sum, { min, placed }) => sum + min - placed, 0)
        if (missing(decision) > missing(without)) throw new Error('short')
        const enough =
          world.group.deployments.length === 1 &&
          without.add.length + without.keep.length === world.group.deployments[0]?.max
        if (enough && world.placed.length === 0 && decision.replaced.length > 0)
          throw new Error('took what it need not')
      })
      fc.assert(property, runs)
      t.end()
    },
  )
})

const program = (name: string, fqdns: readonly string[] | null): PlacedProgram => ({
  name,
  fqdns,
  sha: name.padEnd(64, '0'),
})

/** A group that comes, root or with domains, and those that it replaces: a root group, or some with domains. */
const replacedPlaces: fc.Arbitrary<readonly PlacedPrograms[]> = fc
  .record({
    comesAsRoot: fc.boolean(),
    rootGoes: fc.boolean(),
    going: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ comesAsRoot, rootGoes, going }) => {
    const names = (id: number, isRoot: boolean) => (isRoot ? null : [`g${id}.example`])
    const comes: PlacedPrograms = {
      groupId: 9,
      organizationId: null,
      replacedBy: null,
      current: null,
      previous: null,
      candidate: program('cf-9-next', names(9, comesAsRoot)),
    }
    const leaving = Array.from({ length: rootGoes ? 1 : going }, (_, index): PlacedPrograms => ({
      groupId: index + 1,
      organizationId: null,
      replacedBy: 9,
      candidate: null,
      previous: null,
      current: program(`cf-${index + 1}-now`, names(index + 1, rootGoes)),
    }))
    return [comes, ...leaving]
  })

void t.test('a cache serves before and after one group replaces others there', (t) => {
  const property = fc.property(replacedPlaces, (placed) => {
    const { desired, routings } = composeDesired(placed)
    const switched = placed
      .filter(({ replacedBy }) => replacedBy === null)
      .map((one) => ({ ...one, current: one.candidate, candidate: null }))
    const after = composeDesired(switched).desired

    t.not(desired.active, idleVclName, 'it serves before the switch')
    t.not(after.active, idleVclName, 'it serves after the switch')
    t.not(desired.active, 'cf-9-next', 'not the new program before the switch')
    const loaded = new Set(desired.load.map(({ name }) => name))
    for (const { name } of after.load)
      if (!loaded.has(name)) throw new Error(`${name} is not loaded before`)
    t.equal(composeNextRouting(placed)?.name, composeRouting(switched)?.name)
    return routings.every(({ name }) => loaded.has(name))
  })
  fc.assert(property)
  t.end()
})
