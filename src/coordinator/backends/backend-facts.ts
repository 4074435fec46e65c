/** The sick backends of VCL groups: for problems and for totals. */
import type { NamedReference } from '../store/owner.js'
import type { Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import { readServed, readSick, type ServedBackends } from './group-backends.js'

/** The backends of a group with at least one sick backend. */
export interface SickBackends {
  /** The number of backends in all VCLs of the group. */
  readonly total: number
  /** Backends that all agents serving the group see sick, and backends that at least one agent sees sick. */
  readonly sickEverywhere: number
  readonly sickSomewhere: number
  /** No cache that serves the group has a healthy backend. */
  readonly areAllSick: boolean
  /** When the first and the last backend became sick; milliseconds. */
  readonly since: number
  readonly lastSince: number
  /** Some of them, the worst first. */
  readonly worst: readonly {
    readonly name: string
    readonly sick: number
    readonly healthy: number
  }[]
  /** Some of the agents that see a backend sick. */
  readonly agents: readonly NamedReference[]
}

/** The maximum number that fits into a message. */
const maxShown = 20

const everything: Scope = { kind: 'all' }

/** Omits groups without a sick backend: while no backend is sick this costs one statement that returns no rows. */
export async function readGroupBackends(
  queries: Queries,
  groupIds: readonly number[],
): Promise<ReadonlyMap<number, SickBackends>> {
  const sick = new Map<number, SickCounts>()
  await readSick(queries, { scope: everything, groupIds: new Set(groupIds) }, (row) => {
    const counts = sick.get(row.groupId) ?? startCounts(row.since)
    sick.set(row.groupId, counts)
    counts.since = Math.min(counts.since, row.since)
    counts.lastSince = Math.max(counts.lastSince, row.since)
    counts.backends.set(row.backend, (counts.backends.get(row.backend) ?? 0) + 1)
    // The rows are ordered by agent.
    if (counts.agents.length < maxShown && counts.agents.at(-1)?.id !== row.agentId)
      counts.agents.push({ id: row.agentId, name: row.agentName })
  })
  const served = await readServed(queries, { scope: everything, groupIds: [...sick.keys()] })
  const judged = [...sick].map(
    ([groupId, counts]) => [groupId, judgeGroup(counts, served.get(groupId) ?? none)] as const,
  )
  return new Map(judged)
}

/** For the groups in the scope: backends that no agent sees sick, and backends that at least one agent sees sick. */
export async function countBackends(
  queries: Queries,
  scope: Scope,
): Promise<{ readonly healthy: number; readonly sick: number }> {
  const sick = new Set<string>()
  await readSick(queries, { scope }, ({ groupId, backend }) => {
    sick.add(`${groupId} ${backend}`)
  })
  let total = 0
  for (const { agents } of (await readServed(queries, { scope })).values()) total += agents.size
  return { healthy: Math.max(0, total - sick.size), sick: sick.size }
}

interface SickCounts {
  since: number
  lastSince: number
  readonly agents: NamedReference[]
  /** The number of agents by backend. */
  readonly backends: Map<string, number>
}

function startCounts(since: number): SickCounts {
  return { since, lastSince: since, agents: [], backends: new Map() }
}

const none: ServedBackends = { agents: new Map(), omittedHealthy: 0, omittedSick: 0 }

/** Counts do not go below zero if a report arrives between the two queries. */
export function judgeGroup(
  { since, lastSince, agents, backends }: SickCounts,
  served: ServedBackends,
): SickBackends {
  const rows = [...backends].map(([name, sick]) => ({
    name,
    sick,
    healthy: Math.max(0, (served.agents.get(name) ?? 0) - sick),
  }))
  const sickEverywhere = rows.filter(({ healthy }) => healthy === 0).length
  const total = new Set([...served.agents.keys(), ...backends.keys()]).size
  return {
    total,
    sickEverywhere,
    sickSomewhere: rows.length,
    areAllSick: sickEverywhere === total && served.omittedHealthy === 0,
    since,
    lastSince,
    worst: rows.toSorted((a, b) => b.sick - a.sick || a.healthy - b.healthy).slice(0, maxShown),
    agents,
  }
}
