/**
 * The health of VCL groups' backends, as reported by the agents that serve the groups. An agent that is Down, or whose cache is
 * not running, counts only if it is requested by id, with its last report. Rows are read in pieces, and other requests are
 * handled in between, because ten thousand agents may see the same origin sick.
 */
import { setImmediate as servedOthers } from 'node:timers/promises'
import { sql, type SqlBool } from 'kysely'
import { agentStates } from '../../resources/agent-state.js'
import type { NamedReference } from '../store/owner.js'
import { within, type Scope } from '../store/scope.js'
import type { Queries } from '../store/store.js'

/** Rows per statement: some milliseconds. */
const rowsAtOnce = 1_000

export interface BackendHealth {
  readonly name: string
  /** Numbers of agents. */
  readonly healthy: number
  readonly sick: number
  /** The first agents that see it sick, by id. */
  readonly agents: readonly NamedReference[]
  /** When the first agent saw it sick; null: no agent sees it sick. */
  readonly since: number | null
}

export interface SickOnAgent {
  readonly groupId: number
  readonly backend: string
  readonly agentId: number
  readonly agentName: string
  readonly since: number
}

/** Passes the sick backends of these groups (default: all in the scope) to `take`, ordered by agent. */
export async function readSick(
  queries: Queries,
  of: {
    readonly scope: Scope
    readonly groupIds?: ReadonlySet<number>
    readonly agentIds?: readonly number[] | null
  },
  take: (row: SickOnAgent) => void,
): Promise<void> {
  let after: readonly [number, string, string] = [0, '', '']
  for (;;) {
    const rows = await queries
      .selectFrom('sickBackends')
      .innerJoin('agents', 'agents.id', 'sickBackends.agentId')
      .innerJoin('placements', 'placements.agentId', 'sickBackends.agentId')
      .select(['sickBackends.agentId', 'sickBackends.vcl', 'sickBackends.backend'])
      .select(['sickBackends.since', 'agents.name as agentName', 'placements.groupId'])
      .where(servesAs('sickBackends'))
      .where(reportedBy(of.agentIds ?? null))
      .where(within(of.scope, 'placements'))
      .where(sql<SqlBool>`("sickBackends"."agentId", "sickBackends".vcl, "sickBackends".backend)
        > (${sql.join(after)})`)
      .orderBy('sickBackends.agentId')
      .orderBy('sickBackends.vcl')
      .orderBy('sickBackends.backend')
      .limit(rowsAtOnce)
      .execute()
    for (const row of rows) if (of.groupIds?.has(row.groupId) !== false) take(row)
    const last = rows.at(-1)
    if (!last || rows.length < rowsAtOnce) return
    after = [last.agentId, last.vcl, last.backend]
    await servedOthers()
  }
}

/** The backends in a group's VCLs, on all its agents. */
export interface ServedBackends {
  /** The number of agents by backend. */
  readonly agents: ReadonlyMap<string, number>
  /** Backends that did not fit into the reports. */
  readonly omittedHealthy: number
  readonly omittedSick: number
}

/** By group; without `groupIds` all groups in the scope. */
export async function readServed(
  queries: Queries,
  of: {
    readonly scope: Scope
    readonly groupIds?: readonly number[]
    readonly agentIds?: readonly number[] | null
  },
): Promise<ReadonlyMap<number, ServedBackends>> {
  const found = new Map<number, ServedCounts>()
  if (of.groupIds?.length === 0) return found
  let after: readonly [number, number, string] = [0, 0, '']
  for (;;) {
    let query = queries
      .selectFrom('placements')
      .innerJoin('servedVcls', 'servedVcls.agentId', 'placements.agentId')
      .innerJoin('agents', 'agents.id', 'placements.agentId')
      .select(['placements.groupId', 'placements.agentId', 'servedVcls.vcl'])
      .select(['servedVcls.backends', 'servedVcls.omittedHealthy', 'servedVcls.omittedSick'])
      .where(servesAs('servedVcls'))
      .where(reportedBy(of.agentIds ?? null))
      .where(within(of.scope, 'placements'))
    if (of.groupIds) query = query.where('placements.groupId', 'in', [...of.groupIds])
    const rows = await query
      .where(sql<SqlBool>`(placements."groupId", placements."agentId", "servedVcls".vcl)
        > (${sql.join(after)})`)
      .orderBy('placements.groupId')
      .orderBy('placements.agentId')
      .orderBy('servedVcls.vcl')
      .limit(rowsAtOnce)
      .execute()
    for (const row of rows) countServed(found, row)
    const last = rows.at(-1)
    if (!last || rows.length < rowsAtOnce) break
    after = [last.groupId, last.agentId, last.vcl]
    await servedOthers()
  }
  for (const counts of found.values()) nameBackends(counts)
  return found
}

/** The VCL is the group's current, candidate or previous one on this agent: a report and a switch may arrive in any order. */
function servesAs(table: 'sickBackends' | 'servedVcls') {
  return sql<SqlBool>`placements.stage = 0 and ${sql.ref(`${table}.vcl`)}
    in (placements."currentName", placements."candidateName", placements."previousName")`
}

/** Null: all agents that are not Down and whose cache is running. */
function reportedBy(agentIds: readonly number[] | null) {
  return agentIds === null ? isAnswering : sql<SqlBool>`agents.id in (${sql.join(agentIds)})`
}

const isAnswering = sql<SqlBool>`agents.state <> ${sql.lit(agentStates.Down)} and agents."engineState" = 'running'`

interface ServedCounts extends ServedBackends {
  readonly agents: Map<string, number>
  /** The number of agents by JSON list of names. */
  readonly texts: Map<string, number>
  omittedHealthy: number
  omittedSick: number
}

interface ServedVclRow {
  readonly groupId: number
  readonly backends: string
  readonly omittedHealthy: number
  readonly omittedSick: number
}

/** Most agents of a group report the same names: each distinct list is parsed once. */
function countServed(found: Map<number, ServedCounts>, row: ServedVclRow): void {
  let counts = found.get(row.groupId)
  if (!counts) {
    counts = { agents: new Map(), texts: new Map(), omittedHealthy: 0, omittedSick: 0 }
    found.set(row.groupId, counts)
  }
  counts.texts.set(row.backends, (counts.texts.get(row.backends) ?? 0) + 1)
  counts.omittedHealthy += row.omittedHealthy
  counts.omittedSick += row.omittedSick
}

function nameBackends({ agents, texts }: ServedCounts): void {
  for (const [text, count] of texts)
    for (const name of JSON.parse(text) as string[])
      // written by the coordinator
      agents.set(name, (agents.get(name) ?? 0) + count)
}
