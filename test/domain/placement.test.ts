/** Placement: what must hold for every fleet, then the rules of the contract one by one. */
import fc from 'fast-check'
import t from 'tap'
import {
  indexAgents,
  noteDomains,
  recordPlacement,
  type PlacementAgent,
} from '../../src/domain/agent-index.js'
import { agentStates } from '../../src/domain/agent-state.js'
import { explainPlacement } from '../../src/domain/placement-reasons.js'
import {
  placeGroup,
  type Place,
  type PlacementDecision,
  type PlacementInput,
} from '../../src/domain/placement.js'
import { placementWorlds, type PlacementWorld } from '../support/arbitraries.js'

const runs = { numRuns: 3000 }

function toInput({ group, agents, placed }: PlacementWorld): PlacementInput {
  return { group, placed, agents: indexAgents(agents) }
}

const agentIds = (places: readonly Place[]): number[] => places.map((place) => place.agentId)
const chosenOf = ({ keep, add }: PlacementDecision): Place[] => [...keep, ...add]

function hasAllTags(world: PlacementWorld, { agentId, deploymentId }: Place): boolean {
  const agent = world.agents.find(({ id }) => id === agentId)
  const deployment = world.group.deployments.find(({ id }) => id === deploymentId)
  return deployment?.tagIds.every((tagId) => agent?.tagIds.includes(tagId)) === true
}

function agentsOf(world: PlacementWorld, places: readonly Place[]): PlacementAgent[] {
  const ids = agentIds(places)
  return world.agents.filter(({ id }) => ids.includes(id))
}

/** Neither a root group beside others nor others beside a root group. */
function isFree({ group }: PlacementWorld, agent: PlacementAgent): boolean {
  const others = agent.groupIds.filter((id) => id !== group.id)
  const isTaken = agent.rootGroupId !== null && agent.rootGroupId !== group.id
  return !isTaken && !(group.root && others.length > 0)
}

/** Agents that could hold the group now, whoever holds it. */
function isUsable(world: PlacementWorld, agent: PlacementAgent): boolean {
  return agent.state === agentStates.Running && isFree(world, agent)
}

void t.test(
  'an agent holds the group once, for a deployment whose tags it has, never over max',
  (t) => {
    const property = fc.property(placementWorlds, (world) => {
      const decision = placeGroup(toInput(world))

      const chosen = chosenOf(decision)
      if (new Set(agentIds(chosen)).size < chosen.length) throw new Error('held twice')
      if (!chosen.every((place) => hasAllTags(world, place))) throw new Error('does not fit')
      for (const { id, max } of world.group.deployments)
        if (chosen.filter((place) => place.deploymentId === id).length > max)
          throw new Error('over')
    })

    fc.assert(property, runs)
    t.end()
  },
)

void t.test(
  'only Running agents are new, and none that is ever root-deployed and shared at once',
  (t) => {
    const property = fc.property(placementWorlds, (world) => {
      const { add, keep } = placeGroup(toInput(world))

      const { Running, Failing } = agentStates
      const statesOf = (places: readonly Place[]): number[] =>
        agentsOf(world, places).map(({ state }) => state)
      if (!statesOf(add).every((state) => state === Running)) throw new Error('new')
      if (!statesOf(keep).every((state) => state === Running || state === Failing))
        throw new Error('kept')
      const holders = agentsOf(world, [...add, ...keep])
      if (!holders.every((agent) => isFree(world, agent))) throw new Error('not alone')
    })

    fc.assert(property, runs)
    t.end()
  },
)

void t.test(
  'every placed agent is kept, waited for or removed; who still fits is kept up to max',
  (t) => {
    const property = fc.property(placementWorlds, (world) => {
      const { keep, waiting, remove, add } = placeGroup(toInput(world))

      const before = agentIds(world.placed).toSorted()
      const after = [...agentIds(keep), ...agentIds(waiting), ...agentIds(remove)].toSorted()
      if (before.join() !== after.join()) throw new Error('lost or made up')
      if (agentIds(add).some((id) => before.includes(id))) throw new Error('added again')
      for (const { agentId } of remove) {
        const agent = world.agents.find(({ id }) => id === agentId)
        if (!agent || !isUsable(world, agent)) continue
        const open = world.group.deployments.find(
          ({ id, max }) =>
            hasAllTags(world, { agentId, deploymentId: id, position: 0 }) &&
            [...keep, ...add].filter((p) => p.deploymentId === id).length < max,
        )
        if (open || add.some((place) => hasAllTags(world, { ...place, agentId })))
          throw new Error(`agent ${agentId} could have stayed`)
      }
      const order = remove.map(({ position }) => position)
      if (order.join() !== order.toSorted((a, b) => b - a).join())
        throw new Error('order of leaving')
    })

    fc.assert(property, runs)
    t.end()
  },
)

void t.test('the order of the input does not matter', (t) => {
  const shuffled = placementWorlds.chain((world) =>
    fc.tuple(
      fc.constant(world),
      fc.shuffledSubarray([...world.agents], { minLength: world.agents.length }),
      fc.shuffledSubarray([...world.placed], { minLength: world.placed.length }),
      fc.shuffledSubarray([...world.group.deployments], {
        minLength: world.group.deployments.length,
      }),
    ),
  )
  const property = fc.property(shuffled, ([world, agents, placed, deployments]) => {
    const group = { ...world.group, deployments }
    const positions = new Set(placed.map(({ position }) => position))
    fc.pre(positions.size === placed.length)

    const one = placeGroup(toInput(world))
    const other = placeGroup(toInput({ group, agents, placed }))

    if (JSON.stringify(one) !== JSON.stringify(other)) throw new Error(JSON.stringify([one, other]))
  })

  fc.assert(property, runs)
  t.end()
})

void t.test('placing again changes nothing', (t) => {
  const property = fc.property(placementWorlds, (world) => {
    const input = toInput(world)
    const first = placeGroup(input)
    recordPlacement(input.agents, world.group, first)

    const again = placeGroup({ ...input, placed: chosenOf(first) })

    if (again.add.length + again.remove.length > 0) throw new Error(JSON.stringify([first, again]))
    const byAgent = (places: readonly Place[]): string =>
      JSON.stringify(places.toSorted((a, b) => a.agentId - b.agentId))
    if (byAgent(again.keep) !== byAgent(chosenOf(first))) throw new Error('moved')
  })

  fc.assert(property, runs)
  t.end()
})

void t.test('a deployment is short exactly when no assignment could fill the mins better', (t) => {
  const property = fc.property(placementWorlds, (world) => {
    const { shortages, ...decision } = placeGroup(toInput(world))

    const chosen = chosenOf({ ...decision, shortages })
    for (const { id, min } of world.group.deployments) {
      const count = chosen.filter((place) => place.deploymentId === id).length
      const shortage = shortages.find(({ deploymentId }) => deploymentId === id)
      if (count < min !== (shortage !== undefined)) throw new Error('shortage')
      if (shortage && shortage.placed !== count) throw new Error('count')
    }
    const held = new Set(agentIds(world.placed))
    const usable = world.agents.filter(
      (agent) =>
        isUsable(world, agent) || (held.has(agent.id) && agentIds(chosen).includes(agent.id)),
    )
    const missing = shortages.reduce((sum, { min, placed }) => sum + min - placed, 0)
    const wanted = world.group.deployments.reduce((sum, { min }) => sum + min, 0)
    if (wanted - missing < mostSeats(world, usable)) throw new Error('could do better')
  })

  fc.assert(property, runs)
  t.end()
})

/** The most min-seats that any assignment fills, by trying. */
function mostSeats(world: PlacementWorld, usable: readonly PlacementAgent[]): number {
  const seats = world.group.deployments.flatMap(({ id, min }) =>
    Array.from({ length: min }, () => id),
  )
  const seatOf = new Map<number, number>()
  const seat = (at: number, asked: Set<number>): boolean =>
    usable.some(({ id: agentId }) => {
      const deploymentId = seats[at] ?? 0
      if (asked.has(agentId) || !hasAllTags(world, { agentId, deploymentId, position: 0 }))
        return false
      asked.add(agentId)
      const other = seatOf.get(agentId)
      if (other !== undefined && !seat(other, asked)) return false
      seatOf.set(agentId, at)
      return true
    })
  return seats.filter((_, at) => seat(at, new Set())).length
}

void t.test('every agent has one row with a reason, and the chosen ones their deployment', (t) => {
  const property = fc.property(placementWorlds, (world) => {
    const input = toInput(world)
    const decision = placeGroup(input)

    const rows = explainPlacement(input, decision)

    if (rows.map(({ agentId }) => agentId).join() !== world.agents.map(({ id }) => id).join())
      throw new Error('rows')
    const chosen = new Map(chosenOf(decision).map((place) => [place.agentId, place.deploymentId]))
    for (const row of rows) {
      if (row.chosen !== chosen.has(row.agentId) || row.reason === '') throw new Error('chosen')
      if (row.chosen && row.deploymentId !== chosen.get(row.agentId)) throw new Error('deployment')
    }
  })

  fc.assert(property, runs)
  t.end()
})

interface Wanted {
  readonly min?: number
  readonly max?: number
  readonly root?: boolean
}

const agent = (id: number, more: Partial<PlacementAgent> = {}): PlacementAgent => ({
  ...{ id, state: agentStates.Running, tagIds: [1], groupIds: [], rootGroupId: null },
  ...more,
})

function place(
  agents: readonly PlacementAgent[],
  { min = 1, max = 1, root = true }: Wanted,
  more: Partial<PlacementInput> = {},
): PlacementDecision {
  const group = { id: 7, root, deployments: [{ id: 1, min, max, tagIds: [1] }] }
  return placeGroup({ group, agents: indexAgents(agents), placed: [], ...more })
}

const at = (agentId: number, position: number): Place => ({ agentId, deploymentId: 1, position })
const { Down, Failing, Locked, ReadOnly } = agentStates

void t.test('the agents with the fewest groups come first, and equal ones spread by group', (t) => {
  const agents = [agent(1, { groupIds: [3, 4] }), agent(2, { groupIds: [3] }), agent(3)]
  t.same(agentIds(place(agents, { max: 2, root: false }).add), [3, 2])

  const first = (id: number): number | undefined =>
    placeGroup({
      group: { id, root: true, deployments: [{ id: 1, min: 1, max: 1, tagIds: [1] }] },
      agents: indexAgents(Array.from({ length: 10 }, (_, index) => agent(index + 1))),
      placed: [],
    }).add[0]?.agentId
  t.ok(new Set(Array.from({ length: 50 }, (_, index) => first(index + 1))).size > 5)
  t.end()
})

void t.test('who is placed stays, also Failing; a Down, ReadOnly or Locked one makes room', (t) => {
  const held = { groupIds: [7], rootGroupId: 7 }
  const placed = [at(1, 1)]

  t.same(
    agentIds(place([agent(1, { ...held, state: Failing }), agent(2)], {}, { placed }).keep),
    [1],
  )
  for (const state of [Down, ReadOnly, Locked]) {
    const decision = place([agent(1, { ...held, state }), agent(2)], {}, { placed })
    t.match(decision, { add: [{ agentId: 2, position: 2 }], remove: [{ agentId: 1 }] })
  }
  const mass = place(
    [agent(1, { ...held, state: Down }), agent(2)],
    {},
    { placed, keepDown: new Set([1]) },
  )
  t.same(agentIds(mass.keep), [1], 'after a mass outage places stay')
  const gone = place([agent(2)], {}, { placed })
  t.match(gone.remove, [{ agentId: 1, reason: 'the agent is no more' }])
  t.end()
})

void t.test(
  'a Down or Locked holder is waited for when nobody takes its place, never over max',
  (t) => {
    const property = fc.property(placementWorlds, (world) => {
      const { keep, add, waiting, remove } = placeGroup(toInput(world))

      const waited = agentsOf(world, waiting)
      if (!waited.every((agent) => isAway(agent) && isFree(world, agent)))
        throw new Error('waits for the wrong one')
      if (!waiting.every((place) => hasAllTags(world, place))) throw new Error('does not fit')
      for (const { id, max } of world.group.deployments) {
        const places = [...keep, ...add, ...waiting].filter((place) => place.deploymentId === id)
        if (places.length > max) throw new Error('over')
        const isLost = remove.some((place) => {
          const agent = world.agents.find((one) => one.id === place.agentId)
          const isLost = agent && isAway(agent) && isFree(world, agent)
          return isLost && place.deploymentId === id && hasAllTags(world, place)
        })
        if (isLost && places.length < max) throw new Error('there was room')
      }
    })

    fc.assert(property, runs)

    const held = { groupIds: [7], rootGroupId: 7 }
    const placed = [at(1, 1)]
    for (const state of [Down, agentStates.Locked]) {
      const alone = place([agent(1, { ...held, state })], {}, { placed })
      t.match(alone, { keep: [], waiting: [{ agentId: 1 }], remove: [] })
      t.match(alone.shortages, [{ placed: 0 }], 'it does not count')
    }
    const back = place([agent(1, held)], {}, { placed })
    t.same(agentIds(back.keep), [1])
    t.end()
  },
)

function isAway({ state }: PlacementAgent): boolean {
  return state === agentStates.Down || state === agentStates.Locked
}

void t.test(
  'where something is to be adopted nothing new comes, and nothing leaves for it',
  (t) => {
    const fresh = place([agent(1, { adopting: true })], {})
    t.match(fresh, { add: [], shortages: [{ placed: 0 }] })
    const held = { groupIds: [7], rootGroupId: 7, adopting: true }
    t.same(agentIds(place([agent(1, held)], {}, { placed: [at(1, 1)] }).keep), [1])
    t.end()
  },
)

void t.test('when max shrinks, the last to come is the first to leave', (t) => {
  const held = { groupIds: [7], rootGroupId: 7 }
  const placed = [at(3, 1), at(1, 2), at(2, 3)]

  const decision = place([agent(1, held), agent(2, held), agent(3, held)], { max: 1 }, { placed })

  t.same(agentIds(decision.keep), [3])
  t.match(decision.remove, [{ agentId: 2 }, { agentId: 1, reason: 'its deployment has its max' }])
  t.end()
})

void t.test('a shortage that conflicting agents would fill is a conflict, another is not', (t) => {
  const busy = agent(1, { groupIds: [9], rootGroupId: 9 })
  const shared = agent(2, { groupIds: [9] })
  const shortage = (decision: PlacementDecision): unknown =>
    decision.shortages[0]?.wouldReachWithConflicting

  t.equal(shortage(place([busy], { root: true })), true, 'a root group sits there')
  t.equal(shortage(place([busy], { root: false })), true)
  t.equal(shortage(place([shared], { root: true })), true, 'this one is root')
  t.same(place([shared], { root: false }).shortages, [])
  const agents = indexAgents([shared])
  noteDomains(agents, [{ agentId: 2, fqdn: 'a.example', groupId: 9 }])
  const group = { ...{ id: 7, root: false }, deployments: [{ id: 1, min: 1, max: 1, tagIds: [1] }] }
  const withName = (fqdn: string) =>
    placeGroup({ group: { ...group, fqdns: [fqdn] }, agents, placed: [] })
  t.equal(shortage(withName('a.example')), true, 'the domain is there already')
  t.same(withName('b.example').shortages, [])
  t.equal(shortage(place([busy], { min: 2, max: 2 })), false, 'one is not enough')
  t.equal(shortage(place([agent(1, { state: Down })], {})), false)
  t.end()
})

void t.test('who is excluded is passed over, and its place is neither counted nor touched', (t) => {
  const held = agent(1, { groupIds: [7], rootGroupId: 7 })

  const decision = place([held, agent(2)], {}, { placed: [at(1, 4)], exclude: new Set([1]) })

  t.match(decision, { keep: [], add: [{ agentId: 2, position: 5 }], remove: [] })
  t.end()
})

void t.test('a pass over many groups sees what earlier ones took', (t) => {
  const agents = indexAgents(Array.from({ length: 20 }, (_, index) => agent(index + 1)))
  for (let id = 1; id <= 20; id++) {
    const group = { id, root: true, deployments: [{ id: 1, min: 1, max: 1, tagIds: [1] }] }
    const decision = placeGroup({ group, agents, placed: [] })
    t.equal(decision.add.length, 1)
    recordPlacement(agents, group, decision)
  }
  t.ok([...agents.byId.values()].every(({ groupIds }) => groupIds.size === 1))
  t.end()
})

void t.test('where what is wanted failed, others fill the place, and nobody is taken away', (t) => {
  const worlds = fc.tuple(placementWorlds, fc.infiniteStream(fc.boolean()))
  const property = fc.property(worlds, ([world, flags]) => {
    const input = toInput(world)
    const failed = new Set(agentIds(world.placed).filter(() => flags.next().value === true))
    const before = placeGroup(input)
    const decision = placeGroup({ ...input, failed })

    const fits = (place: Place): boolean =>
      hasAllTags(world, place) && agentsOf(world, [place]).some((agent) => isKept(world, agent))
    for (const place of world.placed.filter((one) => failed.has(one.agentId) && fits(one)))
      if (!agentIds(decision.keep).includes(place.agentId)) throw new Error('taken away')
    for (const { id, max } of world.group.deployments) {
      const counted = chosenOf(decision).filter(
        ({ agentId, deploymentId }) => deploymentId === id && !failed.has(agentId),
      )
      if (counted.length > max) throw new Error('over max')
    }
    // They count where nobody else is there: a group is never short for having failed.
    const short = ({ shortages }: PlacementDecision): number =>
      shortages.reduce((sum, { min, placed }) => sum + min - placed, 0)
    if (short(decision) > short(before)) throw new Error('short')
    if (new Set(agentIds(chosenOf(decision))).size < chosenOf(decision).length)
      throw new Error('held twice')
  })

  fc.assert(property, runs)
  t.end()
})

function isKept(world: PlacementWorld, agent: PlacementAgent): boolean {
  const { Running, Failing } = agentStates
  return (agent.state === Running || agent.state === Failing) && isFree(world, agent)
}
