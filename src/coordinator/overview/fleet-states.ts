/**
 * Counts of agents, groups and backends by state, and the open problems. Results are cached until an event announces a change.
 * Counting backends reads thousands of rows, so callers get the known counts while the backends are counted again.
 */
import { maxListedProblems } from '../../resources/overview.js'
import type { Actor } from '../../resources/permission.js'
import { createReadCache } from '../../runtime/bounded-cache.js'
import { createRefreshedMemory } from '../../runtime/refreshed-memory.js'
import { countAgents } from '../agents/agent-counts.js'
import { countBackends } from '../backends/backend-facts.js'
import { eventsSubject } from '../bus/subjects.js'
import { countGroupsByState, type GroupCounts } from '../placement/group-counts.js'
import {
  listReadableBearers,
  readOpenProblems,
  type OpenProblems,
} from '../problems/open-problems.js'
import { scopeOf, type StateService } from '../service.js'

type AgentCounts = Awaited<ReturnType<typeof countAgents>>
type BackendCounts = Awaited<ReturnType<typeof countBackends>>

export interface FleetStates {
  countAgents(actor: Actor): Promise<AgentCounts>
  countGroups(actor: Actor): Promise<GroupCounts>
  /** Null while the backends are counted for the first time, which takes a while. */
  countBackends(actor: Actor): Promise<BackendCounts | null>
  readProblems(actor: Actor): Promise<OpenProblems>
}

/** The maximum number of organizations whose counts are cached. */
const most = 200
/** The bus delivers at most once: without an event, cached results expire after this time. */
const withoutHintMs = 2_000
const backendMemory = { most, freshMs: 5_000, usableMs: 60_000, waitMostMs: 1_000 }

export function createFleetStates(service: StateService): FleetStates {
  const { now, bus, store } = service
  const options = { most, now, believedMs: withoutHintMs }
  const agents = createReadCache<AgentCounts>(options)
  const groups = createReadCache<GroupCounts>(options)
  const problems = createReadCache<OpenProblems>(options)
  const backends = createRefreshedMemory<BackendCounts>({ ...backendMemory, now })
  bus.subscribe(eventsSubject, () => {
    for (const known of [agents, groups, problems]) known.clear()
  })
  return {
    countAgents: (actor) => agents.read(keyOf(actor), () => countAgents(service, scopeOf(actor))),
    countGroups: (actor) =>
      groups.read(keyOf(actor), () => countGroupsByState(store.queries, scopeOf(actor))),
    countBackends: async (actor) =>
      (await backends.read(keyOf(actor), () => countBackends(store.queries, scopeOf(actor)))) ??
      null,
    readProblems: (actor) =>
      problems.read(`${keyOf(actor)} ${listReadableBearers(actor).join()}`, () =>
        readOpenProblems(store.queries, actor, maxListedProblems),
      ),
  }
}

function keyOf({ organizationId }: Actor): string {
  return organizationId === null ? 'all' : String(organizationId)
}
