/** Placement: its rules one by one (docs/behaviour.md, Placement). What must hold for every fleet: `placement-properties.test.ts`. */
import fc from 'fast-check'
import t from 'tap'
import {
  indexAgents,
  noteDomains,
  recordPlacement,
  type PlacementAgent,
} from '../../../src/coordinator/fleet/agent-index.js'
import { agentStates } from '../../../src/resources/agent-state.js'
import { explainPlacement } from '../../../src/coordinator/placement/placement-reasons.js'
import { placeGroup, type PlacementDecision } from '../../../src/coordinator/placement/placement.js'
import { describeShortages } from '../../../src/coordinator/placement/shortage.js'
import type { Place, PlacementInput } from '../../../src/coordinator/fleet/placement-input.js'
import { placementWorlds } from '../../support/arbitraries.js'
import {
  agentIds,
  agentsOf,
  isAskedFor,
  isFree,
  runs,
  toInput,
  withTags,
} from './placement-world.js'

interface Wanted {
  readonly min?: number
  readonly max?: number
  readonly root?: boolean
}

const agent = (id: number, more: Partial<PlacementAgent> = {}): PlacementAgent => ({
  id,
  state: agentStates.Running,
  tagIds: [1],
  groupIds: [],
  rootGroupId: null,
  ...more,
})

function place(
  agents: readonly PlacementAgent[],
  { min = 1, max = 1, root = true }: Wanted,
  more: Partial<PlacementInput> = {},
): PlacementDecision {
  const group = { id: 7, root, deployments: [{ id: 1, min, max, target: withTags(1) }] }
  return placeGroup({ group, agents: indexAgents(agents), placed: [], ...more })
}

const at = (agentId: number, position: number): Place => ({ agentId, deploymentId: 1, position })
const { Down, Failing, Locked, ReadOnly } = agentStates

void t.test('agents with the fewest groups come first; ties are spread by group', (t) => {
  const agents = [agent(1, { groupIds: [3, 4] }), agent(2, { groupIds: [3] }), agent(3)]
  t.same(agentIds(place(agents, { max: 2, root: false }).add), [3, 2])

  const first = (id: number): number | undefined =>
    placeGroup({
      group: { id, root: true, deployments: [{ id: 1, min: 1, max: 1, target: withTags(1) }] },
      agents: indexAgents(Array.from({ length: 10 }, (_, index) => agent(index + 1))),
      placed: [],
    }).add[0]?.agentId
  t.ok(new Set(Array.from({ length: 50 }, (_, index) => first(index + 1))).size > 5)
  t.end()
})

void t.test('a holder stays, also Failing; a Down, ReadOnly or Locked one makes room', (t) => {
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
  t.same(agentIds(mass.keep), [1], 'places are kept after a mass outage')
  const gone = place([agent(2)], {}, { placed })
  t.match(gone.remove, [{ agentId: 1, reason: 'the agent was deleted' }])
  t.end()
})

void t.test(
  'the place of a Down or Locked agent is kept while no other takes it, never over max',
  (t) => {
    const property = fc.property(placementWorlds, (world) => {
      const { keep, add, waiting, remove } = placeGroup(toInput(world))

      const waited = agentsOf(world, waiting)
      if (!waited.every((agent) => isAway(agent) && isFree(world, agent)))
        throw new Error('waits for the wrong one')
      if (!waiting.every((place) => isAskedFor(world, place))) throw new Error('does not fit')
      for (const { id, max } of world.group.deployments) {
        const places = [...keep, ...add, ...waiting].filter((place) => place.deploymentId === id)
        if (places.length > max) throw new Error('over')
        const isLost = remove.some((place) => {
          const agent = world.agents.find((one) => one.id === place.agentId)
          const isLost = agent && isAway(agent) && isFree(world, agent)
          return isLost && place.deploymentId === id && isAskedFor(world, place)
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
      t.match(alone.shortages, [{ placed: 0 }], 'it does not count towards min')
    }
    const back = place([agent(1, held)], {}, { placed })
    t.same(agentIds(back.keep), [1])
    t.end()
  },
)

function isAway({ state }: PlacementAgent): boolean {
  return state === agentStates.Down || state === agentStates.Locked
}

void t.test('an adopting agent receives no new group and keeps those it has', (t) => {
  const fresh = place([agent(1, { adopting: true })], {})
  t.match(fresh, { add: [], shortages: [{ placed: 0 }] })
  const held = { groupIds: [7], rootGroupId: 7, adopting: true }
  t.same(agentIds(place([agent(1, held)], {}, { placed: [at(1, 1)] }).keep), [1])
  t.end()
})

void t.test('a member of a console group is used for that group only', (t) => {
  const fresh = (memberOf: number) => place([agent(1, { memberOf })], {})
  t.match(fresh(7), { add: [{ agentId: 1 }], shortages: [] })
  t.match(fresh(8), { add: [], shortages: [{ placed: 0, wouldSufficeWithConflicting: true }] })
  t.end()
})

void t.test('when max shrinks, the newest placement leaves first', (t) => {
  const held = { groupIds: [7], rootGroupId: 7 }
  const placed = [at(3, 1), at(1, 2), at(2, 3)]

  const decision = place([agent(1, held), agent(2, held), agent(3, held)], { max: 1 }, { placed })

  t.same(agentIds(decision.keep), [3])
  t.match(decision.remove, [
    { agentId: 2 },
    { agentId: 1, reason: 'its deployment has reached its max' },
  ])
  t.end()
})

void t.test('a shortage that conflicting agents would fill is a conflict; others are not', (t) => {
  const busy = agent(1, { groupIds: [9], rootGroupId: 9 })
  const shared = agent(2, { groupIds: [9] })
  const shortage = (decision: PlacementDecision): unknown =>
    decision.shortages[0]?.wouldSufficeWithConflicting

  t.equal(shortage(place([busy], { root: true })), true, 'a root group is placed there')
  t.equal(shortage(place([busy], { root: false })), true)
  t.equal(shortage(place([shared], { root: true })), true, 'this group is root')
  t.same(place([shared], { root: false }).shortages, [])
  const agents = indexAgents([shared])
  noteDomains(agents, [{ agentId: 2, fqdn: 'a.example', groupId: 9 }])
  const group = {
    id: 7,
    root: false,
    deployments: [{ id: 1, min: 1, max: 1, target: withTags(1) }],
  }
  const withName = (fqdn: string) =>
    placeGroup({ group: { ...group, fqdns: [fqdn] }, agents, placed: [] })
  t.equal(shortage(withName('a.example')), true, 'the domain is there already')
  t.same(withName('b.example').shortages, [])
  t.equal(shortage(place([busy], { min: 2, max: 2 })), false, 'one is not enough')
  t.equal(shortage(place([agent(1, { state: Down })], {})), false)
  t.end()
})

void t.test('an excluded agent is skipped; its place is neither counted nor changed', (t) => {
  const held = agent(1, { groupIds: [7], rootGroupId: 7 })

  const decision = place([held, agent(2)], {}, { placed: [at(1, 4)], exclude: new Set([1]) })

  t.match(decision, { keep: [], add: [{ agentId: 2, position: 5 }], remove: [] })
  t.end()
})

void t.test('a run over many groups accounts for its earlier placements', (t) => {
  const agents = indexAgents(Array.from({ length: 20 }, (_, index) => agent(index + 1)))
  for (let id = 1; id <= 20; id++) {
    const group = { id, root: true, deployments: [{ id: 1, min: 1, max: 1, target: withTags(1) }] }
    const decision = placeGroup({ group, agents, placed: [] })
    t.equal(decision.add.length, 1)
    recordPlacement(agents, group, decision)
  }
  t.ok([...agents.byId.values()].every(({ groupIds }) => groupIds.size === 1))
  t.end()
})

void t.test('a group goes only to caches of its releases; others do not fill a shortage', (t) => {
  const release = { product: 'varnish', version: '7.1.1' }
  const vinyl = { product: 'vinyl', version: '9.0.1' }
  const unknown = { product: '', version: '' }
  const deployments = [{ id: 1, min: 2, max: 9, target: withTags(1) }]
  const group = { id: 7, root: true, deployments, releases: ['vinyl-9', '6.0'] }
  const placed = [at(1, 1), at(2, 2), at(3, 3)]
  const agents = [
    agent(1, { release, groupIds: [7], rootGroupId: 7 }),
    agent(2, { release: vinyl, groupIds: [7], rootGroupId: 7 }),
    agent(3, { release: unknown, groupIds: [7], rootGroupId: 7, state: Failing }),
    agent(4, { release }),
    agent(5, { release: unknown }),
  ]
  const input = { group, agents: indexAgents(agents), placed }
  const decision = placeGroup(input)

  t.same(agentIds(decision.keep), [2, 3], 'a holder of unknown release keeps the group')
  t.same(decision.remove, [
    {
      ...at(1, 1),
      reason: 'its release is Varnish 7.1.1, and the group is for the releases vinyl-9, 6.0',
    },
  ])
  t.same(
    explainPlacement(input, decision).map(({ chosen, reason }) => (chosen ? '' : reason)),
    [
      'its release is Varnish 7.1.1, and the group is for the releases vinyl-9, 6.0',
      '',
      '',
      'its release is Varnish 7.1.1, and the group is for the releases vinyl-9, 6.0',
      'its release is not known, and the group is for the releases vinyl-9, 6.0',
    ],
  )

  const alone = placeGroup({ group, placed: [], agents: indexAgents([agent(4, { release })]) })
  t.match(alone.shortages, [{ fitting: 1, wouldSufficeWithConflicting: false }])
  const named = [{ id: 1, name: 'edge' }]
  const shortage = describeShortages(alone, named, { agents: [{ id: 4, name: 'edge-4' }] })
  t.equal(shortage?.kind, 'unavailable', 'it waits for a cache of its release')
  t.match(shortage?.message, /1 cannot be used: agent "edge-4": its release is Varnish 7\.1\.1/)
  t.end()
})
