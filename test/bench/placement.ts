/** Placing many groups on a large fleet, as in one pass of the coordinator, against visiting each fitting agent once. CPU time. */
import type * as IndexModule from '../../src/coordinator/fleet/agent-index.js'
import type { Place, PlacementGroup } from '../../src/coordinator/fleet/placement-input.js'
import type * as TargetModule from '../../src/coordinator/fleet/placement-target.js'
import type * as PlacementModule from '../../src/coordinator/placement/placement.js'
import type { TestEnd } from '../support/daemon.js'
import { loadBuilt } from './built.js'
import { formatCount, formatMs, median, type Report } from './figure.js'
import { runTimed } from './process-reading.js'

const agentCount = 10_000
const groupCount = 1_000
const regions = 20
const rounds = 7
const goalMs = 150
const running = 1

type Group = PlacementGroup & { readonly fqdns: readonly string[] }

export async function measurePlacement(_: TestEnd, report: Report): Promise<void> {
  const [index, { findCandidates }, { placeGroup }] = await Promise.all([
    loadBuilt<typeof IndexModule>('src/coordinator/fleet/agent-index.js'),
    loadBuilt<typeof TargetModule>('src/coordinator/fleet/placement-target.js'),
    loadBuilt<typeof PlacementModule>('src/coordinator/placement/placement.js'),
  ])
  const groups = Array.from({ length: groupCount }, (_, at) => makeGroup(at + 1))
  let placed = new Map<number, readonly Place[]>()
  const place = (agents: IndexModule.AgentIndex): number => {
    const decided = new Map<number, readonly Place[]>()
    for (const group of groups) {
      const decision = placeGroup({ group, agents, placed: placed.get(group.id) ?? [] })
      index.recordPlacement(agents, group, decision)
      decided.set(group.id, [...decision.keep, ...decision.add])
    }
    const added = [...decided.values()].flat().length - [...placed.values()].flat().length
    placed = decided
    return added
  }
  const look = (agents: IndexModule.AgentIndex): number => {
    let seen = 0
    for (const { deployments } of groups)
      for (const { target } of deployments)
        for (const slot of findCandidates(agents, target)) seen += agents.agents[slot]?.state ?? 0
    return seen
  }

  const first: number[] = []
  const again: number[] = []
  const bare: number[] = []
  let seen = 0
  let added = 0
  for (let round = 0; round < rounds; round++) {
    placed = new Map()
    const empty = makeAgents(placed)
    bare.push(runTimed(() => (seen = look(index.indexAgents(empty))))[1])
    first.push(runTimed(() => (added = place(index.indexAgents(empty))))[1])
    const held = makeAgents(placed)
    again.push(runTimed(() => place(index.indexAgents(held)))[1])
  }
  for (const [name, tookMs] of [
    [`${formatCount(added)} new places`, first],
    ['all placed already', again],
  ] as const)
    report({
      name: `placement: ${formatCount(agentCount)} agents, ${formatCount(groupCount)} groups, ${name}`,
      measured: formatMs(median(tookMs)),
      baseline: `${formatCount(seen)} looks at agents ${formatMs(median(bare))}`,
      ratio: median(tookMs) / median(bare),
      goal: `<= ${goalMs} ms`,
      isMet: median(tookMs) <= goalMs,
    })
}

/** Two deployments in separate regions, at most five agents each. */
function makeGroup(id: number): Group {
  const deployment = (number: number) => ({
    id: 2 * id + number,
    min: 2,
    max: 5,
    target: { kind: 'tags' as const, tagIds: [1 + ((id + number) % regions)] },
  })
  return {
    id,
    root: false,
    fqdns: [`site-${id}.example`],
    deployments: [deployment(0), deployment(1)],
  }
}

function makeAgents(placed: ReadonlyMap<number, readonly Place[]>): IndexModule.PlacementAgent[] {
  const groupIds = new Map<number, number[]>()
  for (const [groupId, places] of placed)
    for (const { agentId } of places)
      groupIds.set(agentId, [...(groupIds.get(agentId) ?? []), groupId])
  return Array.from({ length: agentCount }, (_, at) => ({
    id: at + 1,
    state: running,
    // A region, and a tag of all agents.
    tagIds: [1 + (at % regions), regions + 1],
    groupIds: groupIds.get(at + 1) ?? [],
    rootGroupId: null,
  }))
}
