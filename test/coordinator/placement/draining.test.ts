/** Draining: what must hold for every fleet with drained agents. */
import fc from 'fast-check'
import t from 'tap'
import { indexAgents } from '../../../src/coordinator/fleet/agent-index.js'
import type { Place, PlacementInput } from '../../../src/coordinator/fleet/placement-input.js'
import { placeGroup, type PlacementDecision } from '../../../src/coordinator/placement/placement.js'
import { agentStates } from '../../../src/resources/agent-state.js'
import { placementWorlds, type PlacementWorld } from '../../support/arbitraries.js'
import { agentIds, chosenOf, isAskedFor, isUsable, toInput } from './placement-world.js'

interface DrainedWorld extends PlacementWorld {
  readonly drained: ReadonlySet<number>
  readonly serving: ReadonlySet<number>
}

/** No obstacles: most drained places could move elsewhere. */
const roomyWorlds: fc.Arbitrary<PlacementWorld> = fc
  .record({
    deployments: fc.array(
      fc.record({
        min: fc.integer({ min: 1, max: 2 }),
        more: fc.nat({ max: 1 }),
        tagId: fc.nat({ max: 1 }),
      }),
      { minLength: 1, maxLength: 2 },
    ),
    agents: fc.array(fc.record({ isFailing: fc.nat({ max: 5 }), second: fc.boolean() }), {
      minLength: 2,
      maxLength: 9,
    }),
  })
  .map(({ deployments, agents }) => ({
    group: {
      id: 7,
      root: false,
      deployments: deployments.map(({ min, more, tagId }, at) => ({
        id: at + 1,
        min,
        max: min + more,
        target: { kind: 'tags' as const, tagIds: [tagId] },
      })),
    },
    placed: [],
    agents: agents.map(({ isFailing, second }, at) => ({
      id: at + 1,
      tagIds: second ? [0, 1] : [0],
      groupIds: [],
      rootGroupId: null,
      state: isFailing === 0 ? agentStates.Failing : agentStates.Running,
    })),
  }))

/** Some agents are drained, and some of the places serve. */
const drainedWorlds: fc.Arbitrary<DrainedWorld> = fc
  .tuple(
    fc.oneof(placementWorlds, roomyWorlds.map(deploy)),
    fc.array(fc.boolean(), { minLength: 24, maxLength: 24 }),
  )
  .map(([world, flags]) => ({
    ...world,
    drained: new Set(world.agents.filter((_, at) => flags[at] === true).map(({ id }) => id)),
    serving: new Set(agentIds(world.placed).filter((_, at) => flags[at + 12] === true)),
  }))

function toDrainedInput(world: DrainedWorld): PlacementInput {
  const agents = world.agents.map((agent) => ({ ...agent, draining: world.drained.has(agent.id) }))
  return { ...toInput(world), agents: indexAgents(agents), serving: world.serving }
}

function servesNow({ agents, serving }: DrainedWorld, { agentId }: Place): boolean {
  const agent = agents.find(({ id }) => id === agentId)
  return agent?.state === agentStates.Running && serving.has(agentId)
}

void t.test('a drained agent receives no new group', (t) => {
  const property = fc.property(drainedWorlds, (world) => {
    const { add } = placeGroup(toDrainedInput(world))

    if (agentIds(add).some((id) => world.drained.has(id))) throw new Error('added')
  })

  fc.assert(property, { numRuns: 1000 })
  t.end()
})

void t.test('a place that leaves for a drain is replaced, and min stays served', (t) => {
  const property = fc.property(drainedWorlds, (world) => {
    const decision = placeGroup(toDrainedInput(world))

    const left = decision.remove.filter(({ reason }) => reason.includes('drained'))
    for (const { id, min, max } of world.group.deployments) {
      const ofIt = (places: readonly Place[]) =>
        places.filter(({ deploymentId }) => deploymentId === id)
      const gone = ofIt(left).filter((place) => isAskedFor(world, place))
      if (gone.length === 0) continue
      const moving = new Set(agentIds(decision.moving))
      const instead = ofIt(chosenOf(decision)).filter(({ agentId }) => !moving.has(agentId))
      if (instead.length !== max) throw new Error('left with room')
      const stays = ofIt(chosenOf(decision))
      const serves = stays.filter((place) => servesNow(world, place)).length
      if (serves < min && gone.some((place) => servesNow(world, place))) throw new Error('min')
    }
  })

  fc.assert(property, { numRuns: 1000 })
  t.end()
})

void t.test('a drain never makes a group short that could stay in place', (t) => {
  const property = fc.property(drainedWorlds, (world) => {
    const held = new Set(agentIds(world.placed))
    const onlyHeld = {
      ...world,
      drained: new Set([...world.drained].filter((id) => held.has(id))),
    }

    const missing = ({ shortages }: PlacementDecision): number =>
      shortages.reduce((sum, { min, placed }) => sum + min - placed, 0)
    if (missing(placeGroup(toDrainedInput(onlyHeld))) > missing(placeGroup(toInput(world))))
      throw new Error('short')
  })

  fc.assert(property, { numRuns: 1000 })
  t.end()
})

/** Two deployments of one place each; agents 1, drained, and 2 hold the group, both for one of them. */
const overMax = [
  { name: 'where the other one has to move', asks: [2, 3], held: 2, tags: [[3], [2, 3]] },
  { name: 'where only it fits', asks: [1, 4], held: 1, tags: [[1, 4], [1]] },
]

for (const { name, asks, held, tags } of overMax)
  void t.test(`a drained agent over max stays ${name}`, (t) => {
    const decision = placeGroup(
      toDrainedInput({
        group: {
          id: 7,
          root: false,
          deployments: asks.map((tagId, at) => ({
            id: at + 1,
            min: 1,
            max: 1,
            target: { kind: 'tags', tagIds: [tagId] },
          })),
        },
        placed: [1, 2].map((agentId) => ({ agentId, deploymentId: held, position: agentId })),
        agents: tags.map((tagIds, at) => ({
          id: at + 1,
          state: agentStates.Running,
          tagIds,
          groupIds: [7],
          rootGroupId: null,
        })),
        drained: new Set([1]),
        serving: new Set([1, 2]),
      }),
    )

    t.match(decision, { shortages: [], remove: [], moving: [] })
    t.same(
      decision.keep.map(({ agentId, deploymentId }) => [agentId, deploymentId]),
      [
        [1, 2],
        [2, 1],
      ],
    )
    t.end()
  })

void t.test(
  'successive runs complete a drain: every place that can move does, and min stays served',
  (t) => {
    const worlds = fc.tuple(drainedWorlds, fc.infiniteStream(fc.boolean()))
    const property = fc.property(worlds, ([start, flags]) => {
      // The group was deployed before any agent was drained, and all serve.
      const deployed = { ...start, ...deploy(start) }
      let world: DrainedWorld = { ...deployed, serving: new Set(agentIds(deployed.placed)) }
      const served = countServing(world)
      for (let run = 0; run < 2 * world.agents.length + 2; run++) {
        const decision = placeGroup(toDrainedInput(world))
        const chosen = chosenOf(decision)
        // Loading takes a while, longer on some agents than on others, but not for ever.
        const ready = agentIds(chosen).filter(
          (id) => world.serving.has(id) || flags.next().value === true || run > world.agents.length,
        )
        world = { ...world, ...place(world, chosen), serving: new Set(ready) }
        for (const { id, min } of world.group.deployments) {
          const now = countServing(world).get(id) ?? 0
          if (now < Math.min(min, served.get(id) ?? 0)) throw new Error(`run ${run}: min of ${id}`)
        }
      }
      const { add, moving, keep } = placeGroup(toDrainedInput(world))
      if (add.length > 0) throw new Error('goes on and on')
      const waits = keep.some(
        ({ agentId }) => !servesNow(world, { agentId, deploymentId: 0, position: 0 }),
      )
      if (moving.length > 0 && !waits) throw new Error('stays, and nothing is waited for')
      const held = new Set(agentIds(keep))
      const free = world.agents.filter(
        (agent) => !world.drained.has(agent.id) && !held.has(agent.id) && isUsable(world, agent),
      )
      const left = new Set(agentIds(moving))
      for (const one of keep.filter(
        ({ agentId }) => world.drained.has(agentId) && !left.has(agentId),
      ))
        if (free.some(({ id }) => isAskedFor(world, { ...one, agentId: id })))
          throw new Error(`agent ${one.agentId} could go`)
    })

    fc.assert(property, { numRuns: 1000 })
    t.end()
  },
)

/** Counts the serving places of each deployment that fit it. */
function countServing(world: DrainedWorld): ReadonlyMap<number, number> {
  return new Map(
    world.group.deployments.map(({ id }) => [
      id,
      world.placed.filter(
        (one) => one.deploymentId === id && isAskedFor(world, one) && servesNow(world, one),
      ).length,
    ]),
  )
}

function deploy(world: PlacementWorld): PlacementWorld {
  return { ...world, ...place(world, chosenOf(placeGroup(toInput(world)))) }
}

/** Returns the world with exactly these places of the group. */
function place(world: PlacementWorld, placed: readonly Place[]) {
  const { group } = world
  const holders = new Set(agentIds(placed))
  const agents = world.agents.map((agent) => {
    const others = agent.groupIds.filter((id) => id !== group.id)
    const otherRoot = agent.rootGroupId === group.id ? null : agent.rootGroupId
    const isHolder = holders.has(agent.id)
    return {
      ...agent,
      groupIds: isHolder ? [group.id, ...others] : others,
      rootGroupId: isHolder && group.root ? group.id : otherRoot,
    }
  })
  return { placed, agents }
}
