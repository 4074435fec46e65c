/** What is sick in VCL groups: for their problems, and for totals. */
import type { NamedReference } from '../store/owner.js'
import type { Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'
import { readServed, readSick, type ServedBackends } from './group-backends.js'

/** Of a group with a backend that is sick somewhere. */
export interface SickBackends {
  /** Backends of the group, those of all its VCLs together. */
  readonly total: number
  /** Those that every agent that serves the group sees sick, and those that some do. */
  readonly sickEverywhere: number
  readonly sickSomewhere: number
  /** Nothing that serves the group has a healthy backend. */
  readonly areAllSick: boolean
  /** When the first was seen sick, and the last; milliseconds. */
  readonly since: number
  readonly lastSince: number
  /** The worst first, a few. */
  readonly worst: readonly {
    readonly name: string
    readonly sick: number
    readonly healthy: number
  }[]
  /** Those that see one sick, a few. */
  readonly agents: readonly NamedReference[]
}

/** What a message has room for. */
const shownMost = 20

const everything: Scope = { kind: 'all' }

/** Groups without a sick backend are left out: while nothing is sick this costs one statement that finds nothing. */
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
    // They come by agent.
    if (counts.agents.length < shownMost && counts.agents.at(-1)?.id !== row.agentId)
      counts.agents.push({ id: row.agentId, name: row.agentName })
  })
  const served = await readServed(queries, { scope: everything, groupIds: [...sick.keys()] })
  const judged = [...sick].map(
    ([groupId, counts]) => [groupId, judgeGroup(counts, served.get(groupId) ?? none)] as const,
  )
  return new Map(judged)
}

/** Of the groups that the scope sees: backends that no agent sees sick, and those that some do. */
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
  /** Agents by backend. */
  readonly backends: Map<string, number>
}

function startCounts(since: number): SickCounts {
  return { since, lastSince: since, agents: [], backends: new Map() }
}

const none: ServedBackends = { agents: new Map(), omittedHealthy: 0, omittedSick: 0 }

/** A report that comes between the two readings makes no backend healthier than none. */
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
    worst: rows.toSorted((a, b) => b.sick - a.sick || a.healthy - b.healthy).slice(0, shownMost),
    agents,
  }
}
