/** Placement: what must hold for every fleet. */
import fc from 'fast-check'
import t from 'tap'
import { recordPlacement, type PlacementAgent } from '../../../src/coordinator/fleet/agent-index.js'
import { agentStates } from '../../../src/resources/agent-state.js'
import { describePlacements } from '../../../src/coordinator/placement/describe-placements.js'
import { explainPlacement } from '../../../src/coordinator/placement/placement-reasons.js'
import { placeGroup, type PlacementDecision } from '../../../src/coordinator/placement/placement.js'
import type { Place } from '../../../src/coordinator/fleet/placement-input.js'
import { placementWorlds, type PlacementWorld } from '../../support/arbitraries.js'
import {
  agentIds,
  agentsOf,
  chosenOf,
  isAskedFor,
  isFree,
  isUsable,
  runs,
  toInput,
} from './placement-world.js'

void t.test(
  'an agent holds the group once, for a deployment that selects it, never over max',
  (t) => {
    const property = fc.property(placementWorlds, (world) => {
      const decision = placeGroup(toInput(world))

      const chosen = chosenOf(decision)
      if (new Set(agentIds(chosen)).size < chosen.length) throw new Error('held twice')
      if (!chosen.every((place) => isAskedFor(world, place))) throw new Error('does not fit')
      for (const { id, max } of world.group.deployments)
        if (chosen.filter((place) => place.deploymentId === id).length > max)
          throw new Error('over')
    })

    fc.assert(property, runs)
    t.end()
  },
)

void t.test('only Running agents are added, and no agent is both root-deployed and shared', (t) => {
  const property = fc.property(placementWorlds, (world) => {
    const { add, keep } = placeGroup(toInput(world))

    const { Running, Failing } = agentStates
    const statesOf = (places: readonly Place[]): number[] =>
      agentsOf(world, places).map(({ state }) => state)
    if (!statesOf(add).every((state) => state === Running)) throw new Error('new')
    if (!statesOf(keep).every((state) => state === Running || state === Failing))
      throw new Error('kept')
    const holders = agentsOf(world, [...add, ...keep])
    if (!holders.every((agent) => isFree(world, agent)))
      throw new Error('not alone, or of another release')
  })

  fc.assert(property, runs)
  t.end()
})

void t.test(
  'every placed agent is kept, waited for or removed; fitting ones are kept up to max',
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
            isAskedFor(world, { agentId, deploymentId: id, position: 0 }) &&
            [...keep, ...add].filter((p) => p.deploymentId === id).length < max,
        )
        if (open || add.some((place) => isAskedFor(world, { ...place, agentId })))
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

void t.test('a group with named agents is on all of them that can hold it', (t) => {
  const property = fc.property(placementWorlds, (world) => {
    const target = world.group.deployments[0]?.target
    fc.pre(target?.kind === 'members')
    const held = agentIds(world.placed)
    const right = world.agents.filter(
      (agent) =>
        target.agentIds.has(agent.id) &&
        (isUsable(world, agent) || (held.includes(agent.id) && isKept(world, agent))),
    )

    const { shortages, ...decision } = placeGroup(toInput(world))

    const chosen = agentIds([...decision.keep, ...decision.add]).toSorted((a, b) => a - b)
    if (chosen.join() !== right.map(({ id }) => id).join()) throw new Error(chosen.join())
    if ((right.length === 0) !== (shortages[0]?.fitting === target.agentIds.size))
      throw new Error('short')
  })

  fc.assert(property, runs)
  t.end()
})

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

/** Returns the most min seats that any assignment fills, found by search. */
function mostSeats(world: PlacementWorld, usable: readonly PlacementAgent[]): number {
  const seats = world.group.deployments.flatMap(({ id, min }) =>
    Array.from({ length: min }, () => id),
  )
  const seatOf = new Map<number, number>()
  const seat = (at: number, asked: Set<number>): boolean =>
    usable.some(({ id: agentId }) => {
      const deploymentId = seats[at] ?? 0
      if (asked.has(agentId) || !isAskedFor(world, { agentId, deploymentId, position: 0 }))
        return false
      asked.add(agentId)
      const other = seatOf.get(agentId)
      if (other !== undefined && !seat(other, asked)) return false
      seatOf.set(agentId, at)
      return true
    })
  return seats.filter((_, at) => seat(at, new Set())).length
}

void t.test('every agent has one row with a reason; chosen ones name their deployment', (t) => {
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

void t.test('a plan names every place once, and a waiting place does not leave', (t) => {
  const property = fc.property(placementWorlds, (world) => {
    const planned = planOf(world)

    const ids = planned.map(({ agent }) => agent.id)
    if (new Set(ids).size < ids.length) throw new Error('named twice')
    if (!agentIds(world.placed).every((id) => ids.includes(id))) throw new Error('forgotten')
    const { Running, Failing } = agentStates
    const there = world.agents.filter(({ state }) => state === Running || state === Failing)
    for (const place of planned) {
      const { agent, held, reason } = place
      const isThere = there.some(({ id }) => id === agent.id)
      const isRight = {
        serves: isThere && reason === null,
        waits: !isThere && held && reason !== null,
        leaves: held && reason !== null,
      }[fateOf(place)]
      if (!isRight) throw new Error(`agent ${agent.id}`)
    }
  })

  fc.assert(property, runs)
  t.end()
})

void t.test('no place of a Down agent leaves while its deployment has room', (t) => {
  const property = fc.property(placementWorlds, (world) => {
    const planned = planOf(world)

    const left = new Set(
      planned.filter(({ deployment }) => deployment === null).map(({ agent }) => agent.id),
    )
    const isAway = (place: Place): boolean =>
      agentsOf(world, [place]).some(
        (agent) => agent.state === agentStates.Down && isFree(world, agent),
      )
    for (const place of world.placed) {
      const { agentId, deploymentId } = place
      if (!left.has(agentId) || !isAskedFor(world, place) || !isAway(place)) continue
      const max = world.group.deployments.find(({ id }) => id === deploymentId)?.max ?? 0
      const taken = planned.filter(({ deployment }) => deployment === titleOf(deploymentId))
      if (taken.length < max) throw new Error('there is room, and it leaves')
    }
  })

  fc.assert(property, runs)
  t.end()
})

function planOf(world: PlacementWorld) {
  const input = toInput(world)
  const titled = world.group.deployments.map(({ id }) => ({ id, name: titleOf(id) }))
  const names = { agents: input.agents, names: new Map(), nameOf: () => undefined }
  return describePlacements(placeGroup(input), titled, names)
}

function fateOf({ deployment, waiting }: ReturnType<typeof planOf>[number]) {
  if (deployment === null) return 'leaves'
  return waiting ? 'waits' : 'serves'
}

function titleOf(deploymentId: number): string {
  return `deployment ${deploymentId}`
}

void t.test('failed places are filled by other agents but not removed', (t) => {
  const worlds = fc.tuple(placementWorlds, fc.infiniteStream(fc.boolean()))
  const property = fc.property(worlds, ([world, flags]) => {
    const input = toInput(world)
    const failed = new Set(agentIds(world.placed).filter(() => flags.next().value === true))
    const before = placeGroup(input)
    const decision = placeGroup({ ...input, failed })

    const fits = (place: Place): boolean =>
      isAskedFor(world, place) && agentsOf(world, [place]).some((agent) => isKept(world, agent))
    for (const place of world.placed.filter((one) => failed.has(one.agentId) && fits(one)))
      if (!agentIds(decision.keep).includes(place.agentId)) throw new Error('taken away')
    for (const { id, max } of world.group.deployments) {
      const counted = chosenOf(decision).filter(
        ({ agentId, deploymentId }) => deploymentId === id && !failed.has(agentId),
      )
      if (counted.length > max) throw new Error('over max')
    }
    // Failed places count where no other agent is available: a failure never makes a group short.
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
